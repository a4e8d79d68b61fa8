import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheFolder } from './cache-folder.ts'
import { bubblewrap } from './pins.ts'
import { run } from './run-command.ts'
import { ensureSystemPackages } from './system-packages.ts'

/** A bwrap for packages, and what its licence (LGPL 2.0 or later) asks to go along: the text, and the whole source that it was made from. */
export interface BuiltBubblewrap { readonly program: string; readonly licence: string; readonly source: string }

const archive = `bubblewrap-${bubblewrap.version}.tar.xz`
/** Hardened as distributions build it; without SELinux labels, which the sandbox does not use. Only libc and libcap are wanted on the target. */
const flags = ['-std=gnu99', '-O2', '-fPIE', '-pie', '-fstack-protector-strong', '-Wl,-z,relro,-z,now', '-s', '-D_GNU_SOURCE', '-D_FORTIFY_SOURCE=2', `-DPACKAGE_STRING="bubblewrap ${bubblewrap.version}"`] as const
const units = ['bubblewrap.c', 'bind-mount.c', 'network.c', 'utils.c'] as const

/**
 * Builds the pinned bubblewrap for this Linux and processor, once; kept in the cache folder.
 * @throws when its source cannot be had or there is nothing to build it with
 */
export async function builtBubblewrap(): Promise<BuiltBubblewrap> {
  const folder = join(cacheFolder(), `bubblewrap-${bubblewrap.version}-${process.arch}-${createHash('sha256').update(flags.join(' ')).digest('hex').slice(0, 8)}`)
  const built = { program: join(folder, 'bwrap'), licence: join(folder, 'COPYING'), source: join(folder, archive) }
  if (existsSync(folder)) return built
  await ensureSystemPackages(['bubblewrap-source'])
  console.log(`set-up: building bubblewrap ${bubblewrap.version} for packages (once, some seconds)`)
  await mkdir(cacheFolder(), { recursive: true })
  const work = await mkdtemp(join(cacheFolder(), 'bubblewrap-build-'))
  try {
    const source = await fetchSource(work)
    await run('tar', ['-xJf', source, '-C', work, '--strip-components=1', '--no-same-owner'], { output: 'quiet' })
    // What its own configure would write; all that matters stands in the flags.
    await writeFile(join(work, 'config.h'), '')
    const made = join(work, 'made')
    await mkdir(made)
    await run('cc', [...flags, '-I.', ...units, '-lcap', '-o', 'made/bwrap'], { cwd: work, output: 'quiet' })
    await copyFile(join(work, 'COPYING'), join(made, 'COPYING'))
    await copyFile(source, join(made, archive))
    await rename(made, folder)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  return built
}

const isPinned = (bytes: Uint8Array): boolean => createHash('sha256').update(bytes).digest('hex') === bubblewrap.sha256

/** The project's own archive: from its releases, else by apt's source packages, which hold the same bytes. @throws with both reasons */
async function fetchSource(work: string): Promise<string> {
  const target = join(work, archive)
  const reasons: string[] = []
  for (const [where, fetchIt] of [['its releases', fromReleases], ['the source packages of this system', fromSourcePackage]] as const) {
    try {
      const bytes = await fetchIt()
      if (!isPinned(bytes)) throw new Error('not the bytes that are pinned')
      await writeFile(target, bytes)
      return target
    } catch (error) {
      if (!(error instanceof Error)) throw error
      reasons.push(`${where}: ${error.message}`)
    }
  }
  throw new Error(`the source of bubblewrap ${bubblewrap.version} cannot be had (${reasons.join('; ')})`)
}

async function fromReleases(): Promise<Uint8Array> {
  const answer = await fetch(`https://github.com/containers/bubblewrap/releases/download/v${bubblewrap.version}/${archive}`, { signal: AbortSignal.timeout(bubblewrap.downloadMs) })
  if (!answer.ok) throw new Error(`status ${String(answer.status)}`)
  return new Uint8Array(await answer.arrayBuffer())
}

/** Asks apt with the system's own sources, turned to source packages, in a folder of its own: nothing of the system's apt changes. */
async function fromSourcePackage(): Promise<Uint8Array> {
  const sources = ['/etc/apt/sources.list', ...existsSync('/etc/apt/sources.list.d') ? (await readdir('/etc/apt/sources.list.d')).map((name) => `/etc/apt/sources.list.d/${name}`) : []].filter((path) => /\.(list|sources)$/.test(path) && existsSync(path))
  if (sources.length === 0) throw new Error('no apt here')
  const work = await mkdtemp(join(tmpdir(), 'countersign-apt-'))
  try {
    for (const folder of ['parts', 'lists/partial', 'cache/archives/partial']) await mkdir(join(work, folder), { recursive: true })
    for (const [at, path] of sources.entries()) await writeFile(join(work, 'parts', `${String(at)}${path.endsWith('.list') ? '.list' : '.sources'}`), asSources(readFileSync(path, 'utf8')))
    const apart = ['Dir::Etc::sourcelist=/dev/null', `Dir::Etc::sourceparts=${work}/parts`, `Dir::State::lists=${work}/lists`, `Dir::Cache=${work}/cache`, 'APT::Sandbox::User=root'].flatMap((option) => ['-o', option])
    await run('apt-get', [...apart, 'update', '-q'], { output: 'quiet' })
    await run('apt-get', [...apart, 'source', '-q', '--download-only', 'bubblewrap'], { cwd: work, output: 'quiet' })
    const name = `bubblewrap_${bubblewrap.version}.orig.tar.xz`
    if (!existsSync(join(work, name))) throw new Error('they have another version')
    return readFileSync(join(work, name))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** The same sources, for source packages: both of apt's formats (sources.list(5)). */
export function asSources(text: string): string {
  return text.replace(/^(\s*)deb(\s)/gm, '$1deb-src$2').replace(/^Types:.*$/gm, 'Types: deb-src')
}
