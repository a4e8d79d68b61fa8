// Looks at the window on fixtures: builds nothing, serves the built folder under the content security policy that the app
// uses, takes a picture of each scene and asks axe about it. `node shots.mjs [filter] [--no-axe]`. SHOTS_LANGUAGE=de,
// pseudo or pseudo-rtl shows another language; steps of a shot that name things in English then do not find them.
import AxeBuilder from '@axe-core/playwright'
import { chromium } from '@playwright/test'
import { createServer } from 'node:http'
import { mkdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

const root = process.env.DEV_OUT ?? '/tmp/countersign-window'
const out = process.env.SHOTS_OUT ?? '/tmp/countersign-shots'
export const csp = process.env.DEV_CSP ?? "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'none'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }

export async function serve() {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname
    try {
      const body = readFileSync(join(root, path === '/' ? 'index.html' : path))
      response.writeHead(200, { 'content-type': types[extname(path === '/' ? '.html' : path)] ?? (path === '/' ? 'text/html' : 'application/octet-stream'), 'content-security-policy': csp })
      response.end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() }
}

export const launch = () => chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--force-color-profile=srgb'] })

const shots = JSON.parse(readFileSync(new URL('./shots.json', import.meta.url), 'utf8'))
if (process.argv[1]?.endsWith('shots.mjs')) {
  mkdirSync(out, { recursive: true })
  const filter = process.argv[2] ?? ''
  const axe = !process.argv.includes('--no-axe')
  const language = process.env.SHOTS_LANGUAGE ?? 'en'
  const { url, close } = await serve()
  const browser = await launch()
  let violations = 0
  for (const shot of shots.filter((one) => one.name.includes(filter))) {
    const [width, height] = (shot.size ?? '1440x900').split('x').map(Number)
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: shot.flags?.includes('dark') ? 'dark' : 'light' })
    const page = await context.newPage()
    const errors = []
    await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }))
    page.on('console', (message) => (message.type() === 'error' || message.type() === 'warning' ? errors.push(message.text().slice(0, 400)) : undefined))
    page.on('pageerror', (error) => errors.push(String(error)))
    await page.goto(`${url}?scene=${shot.scene}&flags=${shot.flags ?? ''}&language=${language}`)
    await page.waitForTimeout(shot.wait ?? 900)
    for (const [action, target, value] of shot.do ?? []) {
      if (action === 'press') await page.keyboard.press(target)
      if (action === 'click') await page.getByRole(target, { name: value, exact: true }).first().click({ timeout: 5_000 })
      if (action === 'css') await page.locator(target).first().click({ timeout: 5_000 })
      if (action === 'type') await page.keyboard.type(target)
      if (action === 'wait') await page.waitForTimeout(target)
      if (action === 'eval') await page.evaluate(target)
    }
    await page.waitForTimeout(300)
    await page.screenshot({ path: join(out, `${shot.name}.png`) })
    if (axe) {
      const result = await new AxeBuilder({ page }).analyze()
      for (const violation of result.violations) {
        violations += 1
        console.log(`${shot.name}: axe ${violation.id}: ${violation.help}`)
        for (const node of violation.nodes.slice(0, 4)) console.log(`    ${node.html.slice(0, 160)}\n      ${node.any.concat(node.all, node.none).map((check) => check.message).join(' | ').slice(0, 240)}`)
      }
    }
    for (const error of new Set(errors)) console.log(`${shot.name}: console: ${error}`)
    await context.close()
  }
  console.log(`${shots.filter((one) => one.name.includes(filter)).length} shots, ${violations} violations, in ${out}`)
  await browser.close()
  close()
}
