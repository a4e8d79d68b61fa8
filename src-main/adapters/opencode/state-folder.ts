import { lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * What an earlier boot may hand to the next one: OpenCode's database and nothing else. Everything else in the agent's home could have
 * been planted by a tool (configuration, plugins, skills, AGENTS.md, credentials, cached packages) and is removed.
 */
const kept: Record<string, readonly string[]> = {
  '': ['.local'],
  '.local': ['share'],
  '.local/share': ['opencode'],
  '.local/share/opencode': ['opencode.db', 'opencode.db-wal', 'opencode.db-shm', 'storage'],
}

/** An empty install and its lock file: stop OpenCode's own npm install of its plugin package (opencode.md, “Hermetic”). */
const pluginLock = '{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"0"}}}}\n'

/**
 * Makes the agent's private home ready for a boot. Only to be called while no agent runs on it: then nobody can swap what is checked
 * here. Links are removed, never followed. Throws what the file system throws.
 */
export async function prepareStateFolder(stateDir: string): Promise<void> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 })
  for (const [folder, names] of Object.entries(kept)) await keepOnly(join(stateDir, folder), names)
  const config = join(stateDir, '.config', 'opencode')
  await mkdir(join(config, 'node_modules'), { recursive: true, mode: 0o700 })
  await writeFile(join(config, 'package-lock.json'), pluginLock, { mode: 0o600 })
}

/** Removes each entry of `folder` that is not named, and each named one that is a link. */
async function keepOnly(folder: string, names: readonly string[]): Promise<void> {
  const facts = await lstat(folder).catch((cause: unknown) => { if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null; throw cause })
  if (facts === null) return
  if (!facts.isDirectory()) { await rm(folder, { force: true }); return }
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (names.includes(entry.name) && (entry.isDirectory() || entry.isFile())) continue
    await rm(join(folder, entry.name), { recursive: true, force: true })
  }
}
