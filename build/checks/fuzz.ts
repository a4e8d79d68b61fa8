// `npm run fuzz [-- messages] [-- seed]`: 100,000 fuzzed messages through the packaged window's own bridge. Needs `npm run package -- --inspectable`.
import { resolve } from 'node:path'
import { exitCodeOf } from '../runtime/run-command.ts'
import { closingLine } from './tally.ts'

const root = resolve(import.meta.dirname, '../..')
const [messages = '100000', seed = '20261130'] = process.argv.slice(2)

const code = await exitCodeOf(process.execPath, [resolve(import.meta.dirname, 'e2e.ts'), 'ipc-fuzz.spec.ts'], { cwd: root, env: { ...process.env, COUNTERSIGN_FUZZ_MESSAGES: messages, COUNTERSIGN_FUZZ_SEED: seed } })
console.log(closingLine({ passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 }))
process.exitCode = code
