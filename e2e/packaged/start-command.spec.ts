import { chromium } from '@playwright/test'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from '../fixtures.ts'
import { Room } from '../room.ts'
import { waitForLine } from '../shipped-app.ts'

const root = resolve(import.meta.dirname, '../..')

/** Processes whose command line names `folder`, whoever's they are. */
function running(folder: string): readonly string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return command.includes(folder) ? [`${pid} ${command.slice(0, 120)}`] : []
    } catch {
      return [] // Ended meanwhile.
    }
  })
}

test('`npm start`, the README\'s first command, opens a window whose sample runs until it is accepted, and when npm ends nothing of it stays', async () => {
  test.setTimeout(300_000)
  const folder = mkdtempSync(join(tmpdir(), 'countersign-start-'))
  const npm = spawn('npm', ['start', '--', '--remote-debugging-port=0', '--disable-gpu', `--user-data-dir=${folder}`], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(npm, 'exit')
  try {
    const output = { text: '' }
    for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (chunk: Buffer) => (output.text += chunk.toString()))
    const browser = await chromium.connectOverCDP(await waitForLine(npm, output, /^DevTools listening on (ws:\S+)$/m))
    const [context] = browser.contexts()
    const window = context?.pages()[0] ?? (await context?.waitForEvent('page'))
    if (window === undefined) throw new Error('the app has no window')
    await expect(window.getByRole('button', { name: 'Run the sample task' })).toBeEnabled({ timeout: 60_000 })
    const room = new Room(window)
    await room.runSample()
    await room.approve('brief')
    await room.approve('command', 120_000)
    await room.hasStatus('result-ready', 120_000)
    await room.acceptResult()
    await room.hasStatus('accepted')
    await browser.close()
  } finally {
    npm.kill('SIGTERM')
    await ended
    await expect.poll(() => running(folder), { timeout: 30_000 }).toEqual([])
    rmSync(folder, { recursive: true, force: true })
  }
})
