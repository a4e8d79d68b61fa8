import { readFileSync } from 'node:fs'
import { expect, test } from '../fixtures.ts'
import { ShippedApp } from '../shipped-app.ts'

test('opens one window called Countersign, without an error', async ({ app }) => {
  await expect(app.window).toHaveTitle('Countersign')
  await expect(app.window.locator('#root')).not.toBeEmpty()
  expect(app.electron.windows()).toHaveLength(1)
  expect(app.windowErrors).toEqual([])
})

test('serves its window from its own scheme under a strict content security policy', async ({ app }) => {
  const policy = await app.window.evaluate(async () => (await fetch(location.href)).headers.get('content-security-policy'))
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("script-src 'self'")
  expect(policy).not.toMatch(/script-src[^;]*unsafe/)
  expect(app.window.url()).toMatch(/^app:\/\/countersign\//)
})

test('answers a malformed address of its own scheme instead of hanging', async ({ app }) => {
  const statuses = await app.window.evaluate(() => Promise.all(['/%ff', '/index.html%00.js', '/../../etc/passwd', '/nothing.js'].map(async (path) => (await fetch(path)).status)))
  expect(statuses).toEqual([404, 404, 404, 404])
})

test('keeps Node out of the window and the window in Chromium\'s sandbox', async ({ app }) => {
  const leaked = await app.window.evaluate(() => ['require', 'process', 'module', 'Buffer'].filter((name) => name in globalThis))
  expect(leaked).toEqual([])
  const pid = await app.inMain(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.webContents.getOSProcessId() ?? 0)
  // Seccomp: 2 is filter mode, which only the sandbox sets.
  expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^Seccomp:\s+2$/m)
})

test('keeps all of its state in the folder that --user-data-dir names', async ({ app }) => {
  expect(await app.inMain(({ app: main }) => main.getPath('userData'))).toBe(app.userData)
})

test('what ships opens the same window, says its versions, and its SQLite works', async () => {
  const app = await ShippedApp.launch()
  try {
    await expect(app.window).toHaveTitle('Countersign')
    const versions: unknown = JSON.parse(await app.line(/^versions (\{.*\})$/m))
    console.log('versions', versions)
    expect(versions).toMatchObject({ app: expect.any(String), electron: expect.any(String), node: expect.any(String), sqlite: expect.stringMatching(/^3\./) })
  } finally {
    await app.close()
  }
})

test('what ships opens no debugger into its main process', async () => {
  const app = await ShippedApp.launch(['--inspect=0'])
  try {
    await app.line(/^versions (\{.*\})$/m)
    expect(app.output).not.toContain('Debugger listening')
  } finally {
    await app.close()
  }
})
