// Tries the window on fixtures the way a person would, and measures it. `node src-renderer/dev/behaviour.mjs [filter]` after the build of vite.config.mjs.
import { launch, serve } from './shots.mjs'

const { url, close } = await serve()
const browser = await launch()
const filter = process.argv[2] ?? ''
let passed = 0
let failed = 0

async function check(name, scene, body, flags = '') {
  if (!name.includes(filter)) return
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  const errors = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => { if (message.type() === 'error' && !message.text().includes('404')) errors.push(message.text().slice(0, 300)) })
  try {
    await page.goto(`${url}?scene=${scene}&flags=${flags}`)
    await page.getByRole('main').waitFor()
    await page.waitForFunction(() => document.querySelector('.entry, .first-title') !== null)
    const note = await body(page)
    if (errors.length > 0) throw new Error(errors.join('\n'))
    passed += 1
    console.log(`ok    ${name}${note === undefined ? '' : `: ${note}`}`)
  } catch (error) {
    failed += 1
    console.log(`FAIL  ${name}\n      ${String(error.stack ?? error).split('\n').slice(0, 6).join('\n      ')}`)
  }
  await context.close()
}

const is = (actual, expected, what = '') => { if (JSON.stringify(actual) !== JSON.stringify(expected)) throw new Error(`${what} expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`) }
const calls = (page, method) => page.evaluate((wanted) => window.dev.main.calls.filter((call) => call.method === wanted).map((call) => call.input), method)
const settled = (page, ms = 750) => page.waitForTimeout(ms)

await check('the contract of names: log, region, header, hold', 'hold', async (page) => {
  await page.getByRole('log', { name: 'Room transcript' }).waitFor()
  const region = page.getByRole('region', { name: 'Approvals' })
  is(await region.locator('[data-approval-id][data-digest]').count(), 1)
  is(await page.locator('[data-status]').count(), 1)
  is(await page.locator('[data-status]').getAttribute('data-status'), 'blocked')
  is(await page.locator('[data-call-id="call_7"]').getAttribute('data-state'), 'awaiting-approval')
  is(await region.getByRole('button', { name: 'Approve', exact: true }).count(), 1)
})
await check('a shown receipt is sent once it is painted', 'hold', async (page) => {
  await settled(page, 300)
  is((await calls(page, 'approval.shown')).map((call) => call.approvalId), ['a1'])
})
await check('no shown receipt from another screen', 'first', async (page) => {
  await page.getByRole('button', { name: 'New task' }).click()
  await page.evaluate(() => { const { main, fixtures } = window.dev; main.push([fixtures.task('t', 'T'), fixtures.hold('h', 't')]) })
  await settled(page, 400)
  is(await calls(page, 'approval.shown'), [])
  is(await page.getByRole('region', { name: 'Approvals' }).getByText('1 approval waits').count(), 1)
})
await check('a click in the grace does nothing, one after it approves', 'hold', async (page) => {
  const approve = page.getByRole('button', { name: 'Approve', exact: true })
  await settled(page)
  await page.evaluate(() => { const { main } = window.dev; const row = main.row('hold:a1'); main.push([{ ...row, digest: row.digest.replace(/.$/, '0') }]) })
  await approve.click({ force: true, timeout: 500 }).catch(() => undefined)
  is(await calls(page, 'approval.decide'), [])
  await approve.click()
  await page.waitForFunction(() => window.dev.main.calls.some((call) => call.method === 'approval.decide'))
  is((await calls(page, 'approval.decide')).map((call) => [call.approvalId, call.verdict]), [['a1', 'approved']])
})
await check('a double click answers one card, not the next', 'holds', async (page) => {
  await settled(page)
  const box = await page.getByRole('button', { name: 'Approve', exact: true }).boundingBox()
  for (let i = 0; i < 4; i += 1) { await page.mouse.click(box.x + 40, box.y + 12); await page.waitForTimeout(70) }
  await page.waitForTimeout(200)
  is((await calls(page, 'approval.decide')).map((call) => call.approvalId), ['a1'])
  is(await page.locator('.approval').getAttribute('data-approval-id'), 'a2')
})
await check('the buttons stay where they are when the card changes', 'holds', async (page) => {
  await settled(page)
  const before = await page.getByRole('button', { name: 'Approve', exact: true }).boundingBox()
  await page.mouse.click(before.x + 40, before.y + 12)
  await page.locator('.approval[data-approval-id="a2"]').waitFor()
  const after = await page.getByRole('button', { name: 'Approve', exact: true }).boundingBox()
  is([after.x, Math.round(after.y)], [before.x, Math.round(before.y)])
})
await check('an older hold that comes late does not push the front card away', 'hold', async (page) => {
  await settled(page)
  await page.evaluate(() => { const { main, fixtures } = window.dev; main.push([fixtures.hold('older', 'task-0', { order: 0 })]) })
  await page.waitForTimeout(100)
  is(await page.locator('.approval').getAttribute('data-approval-id'), 'a1')
})
await check('Enter on Approve only arms; the chord approves', 'hold', async (page) => {
  await settled(page)
  await page.getByRole('button', { name: 'Approve', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.waitForTimeout(250)
  is(await calls(page, 'approval.decide'), [])
  await page.keyboard.press('Control+Enter')
  await page.waitForFunction(() => window.dev.main.calls.some((call) => call.method === 'approval.decide'))
})
await check('the chord works from the transcript and not while typing', 'hold', async (page) => {
  await settled(page)
  await page.locator('#task-filter').focus()
  await page.keyboard.press('Control+Enter')
  await page.waitForTimeout(300)
  await page.keyboard.press('Control+Enter')
  is(await calls(page, 'approval.decide'), [])
  await page.getByRole('log', { name: 'Room transcript' }).focus()
  await page.keyboard.press('Control+Shift+Enter')
  await page.waitForTimeout(300)
  await page.keyboard.press('Control+Shift+Enter')
  await page.waitForFunction(() => window.dev.main.calls.some((call) => call.method === 'approval.decide'))
  is((await calls(page, 'approval.decide')).map((call) => call.verdict), ['denied'])
})
await check('a new hold never takes the focus', 'live', async (page) => {
  await page.locator('#task-filter').focus()
  await page.keyboard.type('ship')
  await page.evaluate(() => { const { main, fixtures } = window.dev; main.push([fixtures.hold('n', 'task-1')]) })
  await page.locator('.approval').waitFor()
  await page.keyboard.type('ping')
  is(await page.locator('#task-filter').inputValue(), 'shipping')
})
await check('the click that activates the window is swallowed', 'hold', async (page) => {
  await settled(page)
  await page.evaluate(() => window.dispatchEvent(new Event('blur')))
  const box = await page.getByRole('button', { name: 'Approve', exact: true }).boundingBox()
  await page.mouse.click(box.x + 40, box.y + 12)
  await page.waitForTimeout(150)
  is(await calls(page, 'approval.decide'), [])
  await settled(page)
  await page.mouse.click(box.x + 40, box.y + 12)
  await page.waitForFunction(() => window.dev.main.calls.some((call) => call.method === 'approval.decide'))
})
await check('the transcript starts at its end and follows it', 'ready', async (page) => {
  const log = page.getByRole('log', { name: 'Room transcript' })
  const gap = () => log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight)
  await settled(page, 400)
  if ((await gap()) > 2) throw new Error(`starts ${await gap()} px from its end`)
  for (let i = 0; i < 20; i += 1) await page.evaluate((n) => { const { main, fixtures } = window.dev; main.push([fixtures.entry('task-1', 'coder', { is: 'message', text: `line ${n}\n\nmore`, streaming: false, reasoning: false })]) }, i)
  await settled(page, 300)
  if ((await gap()) > 2) throw new Error(`ends ${await gap()} px from its end`)
  await log.hover()
  await page.mouse.wheel(0, -900)
  await settled(page, 300)
  const top = await log.evaluate((element) => element.scrollTop)
  for (let i = 0; i < 5; i += 1) await page.evaluate((n) => { const { main, fixtures } = window.dev; main.push([fixtures.entry('task-1', 'coder', { is: 'message', text: `later ${n}`, streaming: false, reasoning: false })]) }, i)
  await settled(page, 300)
  is(await log.evaluate((element) => element.scrollTop), top, 'scrolled while reading:')
  await page.getByRole('button', { name: /5 new rows/ }).click()
  await settled(page, 300)
  if ((await gap()) > 2) throw new Error('did not jump')
})
await check('a growing preview does not jump and keeps its row', 'live', async (page) => {
  await page.evaluate(() => { document.querySelector('[data-call-id="call_5"]').dataset.mine = 'same' })
  for (let i = 0; i < 30; i += 1) await page.evaluate((n) => { const { main } = window.dev; const row = main.row('entry:task-1:tool:call_5'); main.push([{ ...row, body: { ...row.body, argumentBytes: row.body.argumentBytes + 900 * n, contentLines: 1300 + n, tail: `${row.body.tail}\nline ${n}`.slice(-2000) } }]) }, i)
  await page.evaluate(() => { const { main } = window.dev; const row = main.row('entry:task-1:tool:call_5'); main.push([{ ...row, body: { ...row.body, state: 'done', tail: '', output: 'ok', endedAt: Date.now() } }]) })
  await settled(page, 200)
  is(await page.locator('[data-call-id="call_5"]').count(), 1)
  is(await page.locator('[data-call-id="call_5"]').getAttribute('data-mine'), 'same')
  is(await page.locator('[data-call-id="call_5"]').getAttribute('data-state'), 'done')
})
await check('a hole in the patches is closed by a snapshot', 'live', async (page) => {
  await page.evaluate(() => { const { main, fixtures } = window.dev; const lost = fixtures.entry('task-1', 'host', { is: 'status', status: 'working', text: 'lost on its way' }); main.mute = true; main.push([lost]); main.mute = false; main.push([fixtures.entry('task-1', 'host', { is: 'status', status: 'working', text: 'seen' })]) })
  await page.getByText('lost on its way').waitFor()
  await page.getByText('seen', { exact: true }).waitFor()
})
await check('the answer form sends the words of the owner', 'question', async (page) => {
  await page.getByRole('button', { name: '1.90' }).click()
  await page.getByRole('button', { name: 'Send answer' }).click()
  await page.getByText('Recorded. Bot B gets it next.').waitFor()
  is((await calls(page, 'task.answer')).map((call) => [call.questionId, call.text]), [['q-1', '1.90']])
})
await check('accept and reject from review', 'ready', async (page) => {
  await page.getByRole('region', { name: 'Approvals' }).getByRole('button', { name: 'Review' }).click()
  await page.getByRole('button', { name: 'Accept result' }).click()
  await page.getByRole('log', { name: 'Room transcript' }).waitFor()
  is((await calls(page, 'approval.decide')).map((call) => [call.approvalId, call.verdict]), [['acc', 'approved']])
})
await check('a result that is not verified cannot be accepted', 'ready', async (page) => {
  await page.keyboard.press('Control+2')
  await page.getByText('the verification has not passed').waitFor()
  await settled(page)
  is(await page.getByRole('button', { name: 'Accept result' }).isDisabled(), true)
  await page.getByRole('button', { name: 'Reject result' }).click()
  await page.getByRole('dialog').getByRole('textbox').fill('no')
  await page.getByRole('dialog').getByRole('button', { name: 'Reject result' }).click()
  await page.getByRole('log', { name: 'Room transcript' }).waitFor()
  is((await calls(page, 'approval.decide')).map((call) => [call.verdict, call.reason]), [['denied', 'no']])
}, 'unverified')
await check('a task on a folder, by keyboard alone', 'first', async (page) => {
  await page.keyboard.press('Control+n')
  await page.getByRole('textbox', { name: 'Path' }).focus()
  await page.keyboard.type('/home/me/src/upload-client')
  await page.getByText('node_modules, 214 MB').waitFor()
  await page.getByRole('textbox', { name: 'Title' }).focus()
  await page.keyboard.type('Retry')
  await page.keyboard.press('Tab')
  await page.keyboard.type('Retry three times')
  await page.keyboard.press('Tab')
  await page.keyboard.type('one')
  await page.keyboard.press('Enter')
  await page.keyboard.type('two')
  await page.keyboard.press('Control+Enter')
  await page.waitForFunction(() => window.dev.main.calls.some((call) => call.method === 'task.create'))
  const [task] = await calls(page, 'task.create')
  is([task.title, task.requirement, task.criteria, task.source.mounts.length, task.models.lead.modelId], ['Retry', 'Retry three times', ['one', 'two'], 2, 'demo-1'])
})
await check('nothing typed is lost by looking elsewhere or by a failure', 'live', async (page) => {
  await page.keyboard.press('Control+n')
  await page.getByRole('textbox', { name: 'Title' }).fill('Keep me')
  await page.keyboard.press('Control+3')
  await page.getByRole('heading', { name: 'Audit' }).waitFor()
  await page.keyboard.press('Control+n')
  is(await page.getByRole('textbox', { name: 'Title' }).inputValue(), 'Keep me')
})
await check('the palette finds and runs', 'live', async (page) => {
  await page.keyboard.press('Control+k')
  await page.keyboard.type('storage')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Storage' }).waitFor()
})
await check('every failure is shown', 'live', async (page) => {
  await page.keyboard.press('Control+,')
  await page.getByText('It did not work.').first().waitFor()
}, 'fail-providers.list')
await check('progress is drawn only after a moment', 'live', async (page) => {
  await page.keyboard.press('Control+3')
  await page.waitForTimeout(150)
  is(await page.locator('.audit .spin').count(), 0)
  await page.waitForTimeout(600)
  is(await page.locator('.audit .spin').count(), 1)
}, 'slow-audit')
await check('20,000 rows: scroll and append', 'many', async (page) => {
  const log = page.getByRole('log', { name: 'Room transcript' })
  await settled(page, 500)
  const nodes = await page.locator('.entry').count()
  if (nodes > 120) throw new Error(`${nodes} rows are in the page`)
  await page.evaluate(() => { window.long = []; new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.long.push(Math.round(entry.duration)) }).observe({ entryTypes: ['longtask'] }) })
  await log.hover()
  for (let i = 0; i < 60; i += 1) { await page.mouse.wheel(0, i % 20 < 10 ? -1_400 : 1_200); await page.waitForTimeout(16) }
  await page.evaluate(() => { const element = document.querySelector('.transcript'); element.scrollTop = element.scrollHeight / 2 })
  await settled(page, 300)
  await page.evaluate(async () => { const { main, fixtures } = window.dev; for (let i = 0; i < 200; i += 1) { main.push([fixtures.entry('task-1', 'coder', fixtures.toolBody(`late_${i}`, 'bash'))]); await new Promise(requestAnimationFrame) } })
  const long = await page.evaluate(() => window.long)
  const heap = await page.evaluate(() => Math.round(performance.memory.usedJSHeapSize / 1e6))
  return `${nodes} rows drawn, tasks over 50 ms: ${JSON.stringify(long)}, heap ${heap} MB`
})
await check('an append draws one row', 'many', async (page) => {
  await settled(page, 500)
  const touched = await page.evaluate(async () => {
    const seen = new Set()
    const observer = new MutationObserver((records) => { for (const record of records) { const row = (record.target instanceof Element ? record.target : record.target.parentElement)?.closest('.entry'); if (row) seen.add(row.dataset.key) } })
    observer.observe(document.querySelector('.transcript'), { subtree: true, childList: true, characterData: true, attributes: true })
    const { main } = window.dev
    const row = main.row([...document.querySelectorAll('.entry-tool')].at(-1).dataset.key)
    main.push([{ ...row, body: { ...row.body, state: 'failed' } }])
    await new Promise((done) => setTimeout(done, 200))
    return seen.size
  })
  is(touched, 1)
})
await check('a diff of 5,000 lines is usable soon', 'ready', async (page) => {
  await settled(page, 500)
  const start = Date.now()
  await page.keyboard.press('Control+2')
  await page.waitForFunction(() => (document.querySelector('.diff-view diffs-container')?.shadowRoot?.querySelectorAll('[data-line]').length ?? 0) > 0)
  const shown = Date.now() - start
  await page.evaluate(() => { window.long = []; new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.long.push(Math.round(entry.duration)) }).observe({ entryTypes: ['longtask'] }) })
  await page.getByRole('treegrid', { name: 'Changed files' }).getByText('values.ts').click()
  await page.waitForTimeout(1_200)
  return `first lines after ${shown} ms, then tasks over 50 ms: ${JSON.stringify(await page.evaluate(() => window.long))}`
}, 'big-diff')

console.log(`${passed} passed, ${failed} failed, 0 skipped`)
await browser.close()
close()
process.exitCode = failed === 0 ? 0 : 1
