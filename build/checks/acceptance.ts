// `npm run acceptance [-- --share] [-- --only TEXT]`: the preview acceptance on the packaged app and real OpenCodes, without a network but loopback.
// Each case leaves dist/acceptance/CASE.json and pictures of its hold, the run leaves run.json. `--share`: each tool and each
// interface held on every OpenCode, all else on the one that ships.
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { exitCodeOf } from '../runtime/run-command.ts'
import { ensureSystemPackages } from '../runtime/system-packages.ts'
import { acceptanceRuntimes, type AcceptedOpenCode } from './acceptance-runtimes.ts'
import { packageIfOutdated } from './fresh-package.ts'
import { exitCodeWithoutNetwork } from './no-network.ts'
import { onVirtualScreen } from './packaged-screen.ts'
import { closingLine, playwrightTally, total, type Tally } from './tally.ts'
import { listenForEnd } from './told-to-end.ts'

const root = resolve(import.meta.dirname, '../..')
const folder = join(root, 'dist/acceptance')
/** One after the other: `alone` measures what neighbours would disturb. */
const projects = ['together', 'alone'] as const

const { values } = parseArgs({ options: { share: { type: 'boolean', default: false }, only: { type: 'string' } } })

/** With a network: what has to be fetched. Then everything else is started again where there is none. */
async function prepare(): Promise<number> {
  await ensureSystemPackages(['window', 'display'])
  await packageIfOutdated()
  const scratch = await mkdtemp(join(tmpdir(), 'countersign-acceptance-'))
  await chmod(scratch, 0o755)
  try {
    const runtimes = await acceptanceRuntimes(scratch)
    for (const { version, note } of runtimes) console.log(`acceptance: OpenCode ${version}${note === null ? '' : ` (${note})`}`)
    return await exitCodeWithoutNetwork(process.execPath, [import.meta.filename, ...process.argv.slice(2)], { cwd: root, env: { ...process.env, COUNTERSIGN_ACCEPTANCE: JSON.stringify({ runtimes, share: values.share }) } })
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function runAll(): Promise<number> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const { runtimes, share } = JSON.parse(process.env['COUNTERSIGN_ACCEPTANCE'] ?? '') as AcceptanceSetting
  const begunAt = new Date()
  const tallies: Tally[] = []
  const cli = join(root, 'node_modules/@playwright/test/cli.js')
  const told = listenForEnd()
  await onVirtualScreen(async (env) => {
    for (const project of projects) {
      if (told.signal !== null) break
      const report = join(root, `dist/reports/acceptance-${project}.json`)
      await rm(report, { force: true })
      const args = [cli, 'test', '--config', 'e2e/acceptance.config.ts', '--project', project, '--pass-with-no-tests', ...(values.only === undefined ? [] : ['--grep', values.only])]
      const code = await exitCodeOf(process.execPath, args, { cwd: root, env: { ...env, PLAYWRIGHT_JSON_OUTPUT_NAME: report } })
      const counted = playwrightTally(report)
      tallies.push(code !== 0 && counted.failed === 0 ? { ...counted, failed: 1 } : counted)
    }
  })
  told.stop()
  const sum = total(tallies)
  const seconds = Math.round((Date.now() - begunAt.getTime()) / 1_000)
  await writeFile(join(folder, 'run.json'), `${JSON.stringify({ begunAt: begunAt.toISOString(), seconds, load: loadavg(), openCodes: runtimes.map(({ version, note }) => ({ version, note })), share, only: values.only ?? null, ...sum }, null, 2)}\n`)
  console.log(`\n${seconds} s; OpenCode ${runtimes.map(({ version, note }) => (note === null ? version : `${version} (${note})`)).join(', ')}`)
  console.log(`reports and pictures: dist/acceptance/\n${closingLine(sum)}`)
  return sum.failed > 0 || sum.passed === 0 || told.signal !== null ? 1 : 0
}

export type AcceptanceSetting = { readonly runtimes: readonly AcceptedOpenCode[]; readonly share: boolean }

process.exitCode = process.env['COUNTERSIGN_ACCEPTANCE'] === undefined ? await prepare() : await runAll()
