// Electron's security checklist, point by point. Source: https://www.electronjs.org/docs/latest/tutorial/security
import { extractFile, listPackage } from '@electron/asar'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from '../fixtures.ts'
import { Trap } from '../trap.ts'

const unpacked = resolve(import.meta.dirname, '../../dist/linux-unpacked')

test('the window\'s page is isolated, sandboxed, without Node, web views, remote content or developer tools (points 2 to 4, 6, 8 to 12)', async ({ app }) => {
  const [preferences, devTools] = await app.inMain(({ BrowserWindow }) => {
    const page = BrowserWindow.getAllWindows()[0]!.webContents
    page.openDevTools()
    return [(page as unknown as { getLastWebPreferences(): Record<string, unknown> }).getLastWebPreferences(), page.isDevToolsOpened()] as const
  })
  expect(preferences).toMatchObject({ contextIsolation: true, sandbox: true, nodeIntegration: false, nodeIntegrationInSubFrames: false, webSecurity: true, allowRunningInsecureContent: false, experimentalFeatures: false })
  expect(preferences['enableBlinkFeatures'] ?? '').toBe('')
  expect(devTools).toBe(false)
  expect(await app.window.evaluate(() => 'loadURL' in document.createElement('webview')), 'a web view').toBe(false)
})

test('a strict policy stands on the page, and what it forbids reaches nobody (points 1, 7, 18)', async ({ app }) => {
  const trap = await Trap.set()
  try {
    const policy = await app.window.evaluate(async () => (await fetch(location.href)).headers.get('content-security-policy') ?? '')
    for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]) expect(policy).toContain(rule)
    const outcomes = await app.window.evaluate(async (address) => {
      const violated = new Set<string>()
      Object.assign(globalThis, { violated })
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => { violated.add(effectiveDirective) })
      const failed = async (what: () => Promise<unknown>): Promise<boolean> => what().then(() => false, () => true)
      const element = (name: string, set: Record<string, string>): void => { document.body.append(Object.assign(document.createElement(name), set)) }
      element('img', { src: `${address}/img` })
      element('iframe', { src: `${address}/frame` })
      element('script', { src: `${address}/script` })
      element('script', { textContent: 'window.pwned = 1' })
      element('link', { rel: 'stylesheet', href: `${address}/css` })
      const form = Object.assign(document.createElement('form'), { action: `${address}/form`, method: 'post' })
      document.body.append(form)
      form.submit()
      const fetched = await failed(() => fetch(`${address}/fetch`))
      const file = await failed(() => fetch('file:///etc/passwd'))
      const socket = await failed(() => new Promise((open, closed) => { const made = new WebSocket(address.replace('http', 'ws')); made.onopen = open; made.onerror = closed }))
      // Says only whether it was queued: whether it went out, the trap knows.
      navigator.sendBeacon(`${address}/beacon`)
      return { fetched, file, socket, pwned: 'pwned' in window }
    }, trap.address)
    expect(outcomes).toEqual({ fetched: true, file: true, socket: true, pwned: false })
    const stopped = ['connect-src', 'form-action', 'frame-src', 'img-src', 'script-src-elem', 'style-src-elem']
    await expect.poll(() => app.window.evaluate(() => [...(globalThis as unknown as { violated: Set<string> }).violated].toSorted()), 'each was stopped by the policy, and is over').toEqual(stopped)
    expect(trap.hits).toEqual([])
  } finally {
    await trap.close()
  }
})

test('the window goes nowhere and opens nothing (points 13 to 15)', async ({ app }) => {
  const trap = await Trap.set()
  try {
    const before = app.window.url()
    await app.inMain(({ BrowserWindow }) => {
      const left: string[] = []
      Object.assign(globalThis, { left })
      BrowserWindow.getAllWindows()[0]!.webContents.on('will-frame-navigate', (event) => { left.push(`${event.url} ${event.defaultPrevented ? 'prevented' : 'let go'}`) })
    })
    const opened = await app.window.evaluate((address) => {
      location.href = `${address}/location`
      const link = Object.assign(document.createElement('a'), { href: `${address}/link`, target: '_blank' })
      document.body.append(link)
      link.click()
      return [window.open(`${address}/open`), window.open('about:blank'), window.open('file:///etc/passwd')].map((made) => made === null)
    }, trap.address)
    expect(opened).toEqual([true, true, true])
    await expect.poll(() => app.inMain(() => (globalThis as unknown as { left: string[] }).left), 'it was about to go, and was kept').toEqual([`${trap.address}/location prevented`])
    expect(app.window.url()).toBe(before)
    expect(app.electron.windows()).toHaveLength(1)
    expect(trap.hits).toEqual([])
  } finally {
    await trap.close()
  }
  const bundle = listPackage(join(unpacked, 'resources/app.asar'), { isPack: false }).filter((file) => /^\/out\/(main|preload)\/.*\.c?js$/.test(file)).map((file) => extractFile(join(unpacked, 'resources/app.asar'), file.slice(1)).toString('utf8')).join('\n')
  expect(bundle, 'no code hands an address to the system').not.toContain('openExternal')
})

test('every permission is denied (point 5)', async ({ app }) => {
  const denied = await app.window.evaluate(async () => ({
    notifications: await Notification.requestPermission(),
    media: await navigator.mediaDevices.getUserMedia({ audio: true }).then(() => 'given', () => 'denied'),
    place: await new Promise((answer) => { navigator.geolocation.getCurrentPosition(() => { answer('given') }, () => { answer('denied') }) }),
    clipboard: await navigator.clipboard.readText().then(() => 'given', () => 'denied'),
  }))
  expect(denied).toEqual({ notifications: 'denied', media: 'denied', place: 'denied', clipboard: 'denied' })
})

test('only the app\'s own page is answered, and the bridge exposes three functions and nothing of Electron (points 17, 20)', async ({ app }) => {
  expect(await app.window.evaluate(() => Object.entries(window.countersign ?? {}).map(([name, value]) => `${name}: ${typeof value}`).sort())).toEqual(['call: function', 'onPatch: function', 'onSignal: function'])
  const foreign = await app.inMain(async ({ app: main, BrowserWindow }) => {
    const preload = `${main.getAppPath()}/out/preload/index.cjs`
    const stranger = new BrowserWindow({ show: false, webPreferences: { preload, contextIsolation: true, sandbox: true } })
    await stranger.loadURL('data:text/html,<p>stranger</p>')
    const answers = await stranger.webContents.executeJavaScript('Promise.all(["app.info", "room.snapshot", "approval.decide"].map((method) => window.countersign.call(method, { taskId: null })))') as { readonly ok: boolean; readonly error?: { readonly message: string } }[]
    stranger.destroy()
    return answers.map((answer) => (answer.ok ? 'answered' : answer.error?.message))
  })
  expect(foreign).toEqual(Array.from({ length: 3 }, () => 'This call did not come from the app\'s own page.'))
})

test('the app is made for a supported Electron, named by an exact version (point 16)', () => {
  const { devDependencies } = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8')) as { devDependencies: Record<string, string> }
  expect(devDependencies['electron']).toMatch(/^45\.\d+\.\d+$/)
})
