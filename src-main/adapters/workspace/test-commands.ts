import { z } from 'zod'
import { readSmallText } from './small-file.ts'
import { parseJson } from './tree.ts'

const fileBytesMax = 1024 * 1024
const packageSchema = z.object({ scripts: z.record(z.string(), z.unknown()).optional(), packageManager: z.string().optional() })

/** Commands that likely run this project's tests, likeliest first. `rootNames` are the names at its top. Nothing is run. */
export async function likelyTestCommands(root: string, rootNames: ReadonlySet<string>): Promise<readonly string[]> {
  const commands: string[] = []
  const text = async (name: string): Promise<string> => (rootNames.has(name) ? ((await readSmallText(root, name, fileBytesMax)) ?? '') : '')
  commands.push(...nodeCommands(await text('package.json'), rootNames))
  if (rootNames.has('deno.json') || rootNames.has('deno.jsonc')) commands.push('deno test')
  const pyproject = await text('pyproject.toml')
  const usesPytest = rootNames.has('pytest.ini') || rootNames.has('conftest.py') || pyproject.includes('pytest') || (await text('setup.cfg')).includes('[tool:pytest]') || /^pytest\b/m.test(await text('requirements.txt')) || /^pytest\b/m.test(await text('requirements-dev.txt'))
  if (usesPytest) commands.push(rootNames.has('.venv') ? '.venv/bin/python -m pytest' : 'python3 -m pytest')
  else if (pyproject !== '' || rootNames.has('setup.py')) commands.push('python3 -m unittest')
  if (rootNames.has('Cargo.toml')) commands.push('cargo test --offline')
  if (rootNames.has('go.mod')) commands.push('go test ./...')
  if (rootNames.has('gradlew')) commands.push('./gradlew --offline test')
  if (rootNames.has('pom.xml')) commands.push('mvn -o -q test')
  for (const name of ['Makefile', 'makefile', 'GNUmakefile']) if (/^test\s*:(?!=)/m.test(await text(name))) commands.push('make test')
  return [...new Set(commands)]
}

function nodeCommands(text: string, rootNames: ReadonlySet<string>): readonly string[] {
  const parsed = packageSchema.safeParse(parseJson(text))
  const script = parsed.success ? parsed.data.scripts?.['test'] : undefined
  if (!parsed.success || typeof script !== 'string' || script.trim() === '' || script.includes('no test specified')) return []
  // The app brings Bun along, so a script that is only `bun test` needs nothing else of the machine.
  if (/^bun test\b[\w\s./-]*$/.test(script)) return [script.trim()]
  const manager = parsed.data.packageManager ?? ''
  if (rootNames.has('bun.lock') || rootNames.has('bun.lockb') || manager.startsWith('bun@')) return ['bun run test']
  if (rootNames.has('pnpm-lock.yaml') || manager.startsWith('pnpm@')) return ['pnpm test', 'npm test']
  if (rootNames.has('yarn.lock') || manager.startsWith('yarn@')) return ['yarn test', 'npm test']
  return ['npm test']
}
