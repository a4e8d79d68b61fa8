import { execFile } from 'node:child_process'
import { chmod, copyFile, constants, link, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { openCodeBinary, openCodeOf, packageName } from '../runtime/opencode-binary.ts'
import { acceptanceOpenCodes, openCodeVersion } from '../runtime/pins.ts'

/** One OpenCode that the acceptance runs on. `note`: why it is this one, where that has to be said. */
export interface AcceptedOpenCode { readonly version: string; readonly path: string; readonly note: string | null }

const run = promisify(execFile)

/** The newest stable 1.18.x that the registry has for this platform; the newest pinned one, with the reason, when it cannot be asked. */
async function newest(): Promise<{ readonly version: string; readonly note: string | null }> {
  const pinned = acceptanceOpenCodes[2].version
  try {
    const { stdout } = await run('npm', ['view', packageName(), 'versions', '--json'], { timeout: 60_000 })
    const patches = (JSON.parse(stdout) as readonly string[]).flatMap((version) => /^1\.18\.(\d+)$/.exec(version)?.[1] ?? []).map(Number)
    return { version: `1.18.${Math.max(...patches)}`, note: `the newest 1.18.x in the registry on ${new Date().toISOString().slice(0, 10)}` }
  } catch (error) {
    return { version: pinned, note: `the newest pinned 1.18.x, since the registry could not be asked: ${error instanceof Error ? error.message.split('\n', 1)[0] : String(error)}` }
  }
}

/** Fetches what is missing into the cache, and puts all of them where any account can start them. */
export async function acceptanceRuntimes(folder: string): Promise<readonly AcceptedOpenCode[]> {
  const last = await newest()
  const wanted = new Map<string, string | null>(acceptanceOpenCodes.slice(0, -1).map(({ version }) => [version, null]))
  wanted.set(last.version, last.note)
  const ready: AcceptedOpenCode[] = []
  for (const [version, note] of wanted) {
    const path = join(folder, version, 'opencode')
    await mkdir(dirname(path), { recursive: true })
    await place(version === openCodeVersion ? await openCodeBinary() : await openCodeOf(version, pinnedIntegrity(version)), path)
    ready.push({ version, path, note })
  }
  return ready
}

function pinnedIntegrity(version: string): string | null {
  if (packageName() !== 'opencode-linux-x64') return null
  return acceptanceOpenCodes.find((pin) => pin.version === version)?.integrity ?? null
}

async function place(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch {
    // Another file system: a copy does as well.
    await copyFile(from, to, constants.COPYFILE_FICLONE)
  }
  await chmod(to, 0o755)
}
