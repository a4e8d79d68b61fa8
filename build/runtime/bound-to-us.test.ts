import { spawn, type ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { isAlive } from '../checks/real-coder/processes.ts'

const started: ChildProcess[] = []
afterEach(() => { for (const child of started.splice(0)) child.kill('SIGKILL') })

const at = (name: string): string => JSON.stringify(resolve(import.meta.dirname, name))
/** What `npm start` is: watches its parent, and runs a long command. Quotes of its text are double. */
const starter = (seconds: string): string => `import { exitCodeOf } from ${at('run-command.ts')}; import { endWithParent } from ${at('bound-to-us.ts')}; endWithParent(); process.exitCode = await exitCodeOf("sleep", [${JSON.stringify(seconds)}], { boundToUs: true })`
const begin = (command: string, args: readonly string[]): ChildProcess => {
  const child = spawn(command, args, { stdio: 'ignore' })
  started.push(child)
  return child
}
const gone = async (seconds: string): Promise<void> => { await expect.poll(() => isAlive(`sleep\u0000${seconds}`), { timeout: 30_000 }).toBe(false) }

test.skipIf(process.platform !== 'linux')('what was started ends with a starter that is killed without a chance to end it', async () => {
  const seconds = `71${String(process.pid)}`
  const script = begin(process.execPath, ['--input-type=module', '-e', starter(seconds)])
  await expect.poll(() => isAlive(`sleep\u0000${seconds}`), { timeout: 30_000 }).toBe(true)
  script.kill('SIGKILL')
  await gone(seconds)
})

test.skipIf(process.platform !== 'linux')('and with a starter whose own parent is killed', async () => {
  const seconds = `72${String(process.pid)}`
  const parent = begin('sh', ['-c', '"$0" --input-type=module -e "$1" & wait', process.execPath, starter(seconds)])
  await expect.poll(() => isAlive(`sleep\u0000${seconds}`), { timeout: 30_000 }).toBe(true)
  parent.kill('SIGKILL')
  await gone(seconds)
  await expect.poll(() => isAlive(seconds), { timeout: 30_000 }).toBe(false)
})
