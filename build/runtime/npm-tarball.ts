import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './run-command.ts'

/**
 * Fetches the tarball of the npm package `spec` (name@version) into the empty `folder` and gives its path. npm checks it against
 * the integrity that the registry states.
 */
export async function fetchTarball(spec: string, folder: string): Promise<string> {
  // On Windows npm is a script, which only the command interpreter starts.
  await run('npm', ['pack', '--silent', '--pack-destination', folder, spec], { output: 'quiet', shell: process.platform === 'win32' })
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))
  if (tarball === undefined) throw new Error(`npm pack of ${spec} left no tarball`)
  return join(folder, tarball)
}
