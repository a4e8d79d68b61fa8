import { lstat, readdir, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Mount } from '../../../src-preload/contract/task.ts'
import { unless } from './fault.ts'

/** Where a manager keeps its toolchains: `base` below the home folder; `versions` is a folder with one toolchain each, else `base` is one. `bin` is relative to a toolchain. */
interface Place { readonly manager: string; readonly base: string; readonly versions: boolean; readonly bin: string; readonly proof: string; readonly needs: readonly string[] }

const javaNeeds = ['pom.xml', 'build.gradle', 'build.gradle.kts', 'gradlew']
const nodeNeeds = ['package.json']
const pythonNeeds = ['pyproject.toml', 'setup.py', 'requirements.txt', 'setup.cfg', 'tox.ini', 'pytest.ini']
const places: readonly Place[] = [
  { manager: 'nvm', base: '.nvm/versions/node', versions: true, bin: 'bin', proof: 'bin/node', needs: nodeNeeds },
  { manager: 'fnm', base: '.local/share/fnm/node-versions', versions: true, bin: 'installation/bin', proof: 'installation/bin/node', needs: nodeNeeds },
  { manager: 'volta', base: '.volta/tools/image/node', versions: true, bin: 'bin', proof: 'bin/node', needs: nodeNeeds },
  { manager: 'bun', base: '.bun', versions: false, bin: 'bin', proof: 'bin/bun', needs: nodeNeeds },
  { manager: 'deno', base: '.deno', versions: false, bin: 'bin', proof: 'bin/deno', needs: ['deno.json', 'deno.jsonc'] },
  { manager: 'pyenv', base: '.pyenv/versions', versions: true, bin: 'bin', proof: 'bin/python', needs: pythonNeeds },
  { manager: 'uv', base: '.local/share/uv/python', versions: true, bin: 'bin', proof: 'bin/python3', needs: pythonNeeds },
  { manager: 'rustup', base: '.rustup/toolchains', versions: true, bin: 'bin', proof: 'bin/rustc', needs: ['Cargo.toml'] },
  { manager: 'go', base: 'sdk', versions: true, bin: 'bin', proof: 'bin/go', needs: ['go.mod'] },
  { manager: 'go', base: '.local/go', versions: false, bin: 'bin', proof: 'bin/go', needs: ['go.mod'] },
  { manager: 'sdkman-java', base: '.sdkman/candidates/java', versions: true, bin: 'bin', proof: 'bin/java', needs: javaNeeds },
  { manager: 'sdkman-gradle', base: '.sdkman/candidates/gradle', versions: true, bin: 'bin', proof: 'bin/gradle', needs: javaNeeds },
  { manager: 'sdkman-maven', base: '.sdkman/candidates/maven', versions: true, bin: 'bin', proof: 'bin/mvn', needs: javaNeeds },
]
const perManagerMax = 2
const toolchainsMax = 12

/**
 * Toolchains below the owner's home that this project can use, as read-only mounts with their PATH entry. Inside they lie under /opt/toolchains,
 * so that nothing of the home's layout is shown. `rootNames` are the names at the top of the project: what it does not need is not proposed.
 */
export async function proposeToolchains(homeDir: string, rootNames: ReadonlySet<string>): Promise<readonly Mount[]> {
  const proposals: Mount[] = []
  for (const place of places) {
    if (!place.needs.some((name) => rootNames.has(name))) continue
    for (const folder of (await toolchainsAt(join(homeDir, place.base), place)).slice(0, perManagerMax)) {
      const name = place.versions ? `${place.manager}-${basename(folder)}` : place.manager
      const into = `/opt/toolchains/${name.replace(/[^A-Za-z0-9._-]/g, '_')}`
      proposals.push({ id: `toolchain:${name}`.slice(0, 100), kind: 'toolchain', label: name.slice(0, 200), hostPath: folder, into, mode: 'read-only', pathEntry: `${into}/${place.bin}` })
    }
  }
  // Cargo's own home holds the crates that a build without network needs.
  if (rootNames.has('Cargo.toml') && (await isFolder(join(homeDir, '.cargo/registry')))) {
    proposals.push({ id: 'toolchain:cargo', kind: 'toolchain', label: 'cargo registry', hostPath: join(homeDir, '.cargo/registry'), into: '/opt/toolchains/cargo/registry', mode: 'read-only', pathEntry: null })
  }
  return proposals.slice(0, toolchainsMax)
}

/** Real folders that hold the proof, newest version first. */
async function toolchainsAt(base: string, place: Place): Promise<readonly string[]> {
  const names = place.versions ? ((await unless(['ENOENT', 'ENOTDIR', 'EACCES'], readdir(base))) ?? []) : ['']
  const found = new Set<string>()
  for (const name of names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true })).slice(0, 100)) {
    const folder = join(base, name)
    if ((await unless(['ENOENT', 'ENOTDIR', 'EACCES'], lstat(join(folder, place.proof)))) !== null) found.add(await realpath(folder))
  }
  return [...found]
}

async function isFolder(path: string): Promise<boolean> {
  return (await unless(['ENOENT', 'ENOTDIR', 'EACCES'], lstat(path)))?.isDirectory() === true
}
