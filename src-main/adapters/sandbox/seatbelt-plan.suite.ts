import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'

/**
 * The stand-in for macOS: reads a profile as `sandbox-exec` gets it, and writes arguments for bwrap that open what the profile opens and nothing else. So
 * a path that a profile forgets is missing in tests, too. Of Linux itself it adds what programs there need. The
 * loopback is always one of its own: who is inside finds its own ports there, and no others. Arguments: profile, a file of
 * mode 0 for what is masked. Prints the arguments, each ended by a NUL.
 */
type Form = string | Form[]

function parse(text: string): Form[] {
  const words = text.match(/"(?:\\.|[^"\\])*"|[()]|[^\s()"]+/g) ?? []
  const whole: Form[] = []
  const open: Form[][] = [whole]
  for (const word of words) {
    if (word === '(') { const form: Form[] = []; open.at(-1)!.push(form); open.push(form) }
    else if (word === ')') open.pop()
    else open.at(-1)!.push(word.startsWith('"') ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1') : word)
  }
  return whole
}

const [, , profile = '', emptyFile = ''] = process.argv
const linux = ['/lib', '/lib64', '/etc/ld.so.cache', '/etc/alternatives']
const hidden = ['git', 'bash', 'dash', 'sh', 'perl', 'env', 'ls', 'cat', 'true', 'python3', 'node'].map((name) => `/usr/bin/${name}`).filter((path) => existsSync(path)).map((path) => realpathSync(path))

const bind = (how: '--bind' | '--ro-bind', path: string): string[] => {
  if (!existsSync(path) || path === '/') return []
  return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : [how, path, path]
}
const filters = (form: Form[], kind: string): string[] => form.filter((part): part is string[] => Array.isArray(part) && part[0] === kind).map((part) => part[1] ?? '')

const looked: string[] = []
const binds: string[] = []
const writable: string[] = []
const masks: string[] = []
let programs: string[] | null = null
for (const form of parse(profile)) {
  if (!Array.isArray(form)) continue
  const operations = form.slice(1).filter((part): part is string => typeof part === 'string')
  const places = [...filters(form, 'subpath'), ...filters(form, 'literal')].filter((path) => !path.startsWith('/dev/'))
  if (form[0] === 'allow' && operations.includes('file-write*')) { writable.push(...places); binds.push(...places.flatMap((path) => bind('--bind', path))) }
  else if (form[0] === 'allow' && operations.includes('file-read*')) binds.push(...places.flatMap((path) => bind('--ro-bind', path)))
  else if (form[0] === 'allow' && operations.includes('file-read-metadata')) looked.push(...places)
  else if (form[0] === 'allow' && operations.includes('process-exec*')) programs = filters(form, 'literal')
  else if (form[0] === 'deny') for (const pattern of filters(form, 'regex')) masks.push(pattern)
}

function masked(pattern: string): string[] {
  const fits = new RegExp(pattern)
  const [top = ''] = writable
  const names = new Set([...readdirSync(top), '.opencode', 'opencode.json', 'opencode.jsonc'])
  const isFolder = (path: string): boolean => (existsSync(path) ? lstatSync(path).isDirectory() : basename(path).startsWith('.'))
  return [...names].map((name) => join(top, name)).filter((path) => fits.test(path)).flatMap((path) => (isFolder(path) ? ['--perms', '0000', '--tmpfs', path, '--remount-ro', path] : ['--ro-bind', emptyFile, path]))
}

/** Folders that are only looked at cannot be listed. */
const above = [...new Set(looked)].filter((path) => !binds.includes(path)).sort().flatMap((path) => ['--perms', '0111', '--dir', path])
const notStarted = programs === null || programs.length === 0 ? [] : hidden.filter((path) => !programs.some((program) => existsSync(program) && realpathSync(program) === path)).flatMap((path) => ['--ro-bind', '/dev/null', path])
const plan = [
  '--unshare-pid', '--cap-drop', 'ALL', '--unshare-net', '--tmpfs', '/', ...above, ...[...new Set(linux)].flatMap((path) => bind('--ro-bind', path)), ...binds, '--dev', '/dev', '--proc', '/proc', ...notStarted, ...masks.flatMap(masked),
]
process.stdout.write(plan.map((word) => `${word}\0`).join(''))
