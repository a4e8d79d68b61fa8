// Started by `npm run demo` (build/checks/demo.ts): a scripted owner runs the sample task in the packaged window.
import { expect } from '@playwright/test'
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { App } from './app.ts'

const folder = resolve(import.meta.dirname, '../dist/demo')
const verifier = resolve(import.meta.dirname, '../build/verify-export.mjs')
/** Long enough for a picture of a call that is still being written. */
const heldMs = 2_500

let steps = 0
const begun = performance.now()

/** Prints a step and leaves a picture of it. */
async function step(app: App, words: string, picture: string): Promise<void> {
  steps += 1
  await app.window.screenshot({ path: join(folder, `${String(steps).padStart(2, '0')}-${picture}.png`) })
  console.log(`${((performance.now() - begun) / 1000).toFixed(1).padStart(5)} s  ${steps}. ${words}`)
}

async function runSample(app: App): Promise<void> {
  const { room, window } = app
  await expect(window.getByText('A scripted owner drives this window')).toBeVisible({ timeout: 60_000 })
  await expect(window.getByRole('button', { name: 'Run the sample task' })).toBeVisible()
  await step(app, 'The window is open; its banner says that a script, not a person, is the owner', 'first-run')
  await room.runSample()
  await expect(room.hold('brief')).toBeVisible({ timeout: 60_000 })
  await step(app, 'Bot A has written a brief, which waits for the owner as exact bytes', 'brief')
  await room.approve('brief')
  await expect(room.transcript.locator('[data-question-id]')).toBeVisible({ timeout: 90_000 })
  await step(app, 'Bot B works in its sandbox, and asks: the requirement is ambiguous at exactly 50 euros', 'question')
  await expect(room.tools({ tool: 'write' })).toHaveAttribute('data-state', 'preview', { timeout: 60_000 })
  await expect(room.tools({ tool: 'write' })).toContainText('shipping.ts')
  await step(app, 'Bot A answered from the criteria; the write is on screen while its arguments are still coming', 'preview')
  await expect(room.hold('command')).toBeVisible({ timeout: 60_000 })
  await step(app, 'The tests ran without asking; another command waits for the owner', 'command')
  await room.approve('command')
  await room.hasStatus('result-ready', 90_000)
  await step(app, 'Bot A re-ran the evidence in a clean copy, and the held criteria tests: passed', 'result')
  await room.openReview()
  await expect(window.getByRole('region', { name: 'Changes' })).toContainText('shippingCost')
  await step(app, 'The review: diff, evidence, verification', 'review')
  await room.acceptResult()
  await room.hasStatus('accepted')
  await step(app, 'Accepted; the patch is left as a file', 'accepted')
}

async function reportEvidence(app: App): Promise<void> {
  const { room } = app
  for (const name of ['offlineMock', 'realProcess', 'realModel', 'humanAcceptance'] as const) {
    const { reached, how } = await room.level(name)
    console.log(`         ${reached ? '✓' : '○'} ${how}`)
    expect(reached, `evidence level ${name}`).toBe(name === 'offlineMock' || name === 'realProcess')
  }
}

async function exportAudit(app: App): Promise<void> {
  const exported = join(app.ownerFolder, 'audit.jsonl')
  await app.willSaveAs(exported)
  await app.window.getByRole('button', { name: 'Audit', exact: true }).click()
  await app.window.getByRole('button', { name: 'Export audit log' }).click()
  await expect.poll(() => existsSync(exported)).toBe(true)
  copyFileSync(exported, join(folder, 'audit.jsonl'))
  await step(app, 'The audit log is exported', 'audit')
  console.log(`         ${execFileSync(process.execPath, [verifier, join(folder, 'audit.jsonl')], { encoding: 'utf8' }).trim()}`)
}

async function demo(): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const app = await App.launch({ arguments: ['--scripted-owner'], env: { COUNTERSIGN_DEMO_HOLD_MS: String(heldMs) } })
  try {
    await runSample(app)
    await reportEvidence(app)
    await exportAudit(app)
  } finally {
    await app.close()
  }
  console.log(`\ndemo: done in ${((performance.now() - begun) / 1000).toFixed(0)} s; pictures and audit.jsonl are in dist/demo/`)
}

await demo()
