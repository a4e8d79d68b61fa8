// `npm run isolation`: the sandbox's probes and the hostile workspaces, on the real bubblewrap and the real OpenCode. `--other-account`: for root, only
// the half that an ordinary account runs; the other half is among the unit tests.
import { mkdir, mkdtemp, rm, chmod, chown } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { exitCodeOf } from '../runtime/run-command.ts'
import { ensureSystemPackages } from '../runtime/system-packages.ts'
import { closingLine, total, vitestFailures, vitestTally, type Tally } from './tally.ts'

const root = resolve(import.meta.dirname, '../..')
const strangerId = 23_456

const whatToRun = ['src-main/adapters/sandbox', 'build/checks/isolation/', 'src-main/composed/hostile-trees'] as const

/** The sandbox adapter's tests, the probes through the real OpenCode and the hostile trees, as this account or, for root, as one that owns nothing. */
async function probesAs(uid: number | null, scratch: string): Promise<Tally> {
  const own = join(scratch, uid === null ? 'own' : 'stranger')
  await mkdir(own)
  if (uid !== null) await chown(own, uid, uid)
  const report = join(own, 'report.json')
  const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--configLoader', 'runner', '--config', 'build/checks/vitest.config.ts', ...whatToRun, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const [program, args] = uid === null ? [process.execPath, vitest] : ['setpriv', ['--reuid', String(uid), '--regid', String(uid), '--clear-groups', process.execPath, ...vitest]]
  const code = await exitCodeOf(program, args, { cwd: root, env: { ...process.env, HOME: own, TMPDIR: own } })
  const counted = vitestTally(report)
  for (const failure of vitestFailures(report)) console.log(failure)
  return code !== 0 && counted.failed === 0 ? { ...counted, failed: 1 } : counted
}

async function isolation(otherAccountOnly: boolean): Promise<number> {
  const isRoot = process.getuid?.() === 0
  await ensureSystemPackages(['window'])
  const scratch = await mkdtemp(join(tmpdir(), 'iso-'))
  await chmod(scratch, 0o755)
  try {
    const tallies: Tally[] = []
    if (!otherAccountOnly) tallies.push(await probesAs(null, scratch))
    if (isRoot) {
      console.log('\nAs an ordinary account:')
      tallies.push(await probesAs(strangerId, scratch))
    } else if (otherAccountOnly) console.error('--other-account is for root: this is an ordinary account')
    const sum = total(tallies)
    console.log(closingLine(sum))
    return sum.failed > 0 || sum.passed === 0 ? 1 : 0
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

process.exitCode = await isolation(process.argv.includes('--other-account'))
