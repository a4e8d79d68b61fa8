#!/usr/bin/env -S node --no-warnings
// What electron-builder calls as `fpm -s dir -t deb` (CUSTOM_FPM_PATH): lays the files out and has dpkg-deb make the package. The same on a
// developer's machine, in CI and in a release, so that what was tested is what ships.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

interface Asked { readonly options: ReadonlyMap<string, string>; readonly depends: readonly string[]; readonly recommends: readonly string[]; readonly files: readonly { readonly from: string; readonly to: string }[] }

const flags = new Set(['--force', '--debug'])
const shortNames: Readonly<Record<string, string>> = { '-s': 'source', '-t': 'target', '-d': 'depends' }

function parse(args: readonly string[]): Asked {
  const options = new Map<string, string>()
  const lists = { depends: [] as string[], recommends: [] as string[] }
  const files: { from: string; to: string }[] = []
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index] ?? ''
    if (flags.has(word)) continue
    if (!word.startsWith('-')) {
      const at = word.lastIndexOf('=')
      files.push({ from: word.slice(0, at), to: word.slice(at + 1) })
      continue
    }
    const joined = /^--([^=]+)=(.*)$/s.exec(word)
    const name = joined?.[1] ?? shortNames[word] ?? word.replace(/^--/, '')
    const value = joined?.[2] ?? args[index += 1] ?? ''
    if (name === 'depends') lists.depends.push(value)
    else if (name === 'deb-recommends') lists.recommends.push(value)
    else options.set(name, value)
  }
  if (options.get('target') !== 'deb') throw new Error(`only debs are made here, not ${String(options.get('target'))}`)
  return { options, ...lists, files }
}

function layOut({ files }: Asked, root: string): void {
  for (const { from, to } of files) {
    const target = join(root, to)
    mkdirSync(dirname(target), { recursive: true })
    if (from.endsWith('/')) { cpSync(from, target, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true }); continue }
    copyFileSync(from, target)
    chmodSync(target, 0o644)
  }
}

/** Policy manual, 5.6.13: one line, then lines that begin with a blank; an empty one is a dot. */
function description(text: string): string {
  const [synopsis = '', ...rest] = text.split('\n').map((line) => line.trim()).filter((line, index, all) => line !== '' || (index > 0 && index < all.length - 1))
  return [synopsis, ...rest.map((line) => ` ${line === '' ? '.' : line}`)].join('\n')
}

function control({ options, depends, recommends }: Asked, root: string): string {
  const of = (name: string): string => options.get(name) ?? ''
  const kib = execFileSync('du', ['-sk', '--apparent-size', root], { encoding: 'utf8' }).split('\t')[0] ?? ''
  const fields: readonly (readonly [string, string])[] = [
    ['Package', of('name')], ['Version', of('version')], ['Architecture', of('architecture')], ['Maintainer', of('maintainer')], ['Installed-Size', kib],
    ['Depends', depends.join(', ')], ['Recommends', recommends.join(', ')], ['Section', of('category')], ['Priority', of('deb-priority')], ['Homepage', of('url').includes('.invalid') ? '' : of('url')], ['Description', description(of('description'))],
  ]
  return `${fields.filter(([, value]) => value !== '').map(([name, value]) => `${name}: ${value}`).join('\n')}\n`
}

function write(asked: Asked): void {
  const root = mkdtempSync(join(tmpdir(), 'countersign-deb-'))
  try {
    chmodSync(root, 0o755)
    layOut(asked, root)
    const fields = control(asked, root)
    mkdirSync(join(root, 'DEBIAN'))
    writeFileSync(join(root, 'DEBIAN/control'), fields)
    for (const [name, option] of [['postinst', 'after-install'], ['postrm', 'after-remove']] as const) {
      const script = asked.options.get(option)
      if (script === undefined) continue
      writeFileSync(join(root, 'DEBIAN', name), readFileSync(script))
      chmodSync(join(root, 'DEBIAN', name), 0o755)
    }
    const how = asked.options.get('deb-compression') === 'xz' ? ['-Zxz', '-z6'] : ['-Zgzip', '-z1']
    execFileSync('dpkg-deb', ['--root-owner-group', ...how, '--build', root, asked.options.get('package') ?? ''], { stdio: 'inherit' })
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

write(parse(process.argv.slice(2)))
