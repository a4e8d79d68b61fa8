// Started by `npm run stories` (build/checks/stories.ts): shows each story of the built design system in the runtime that the window itself runs on, and
// asks axe about it, light and dark. `COUNTERSIGN_STORIES`: the built book; `COUNTERSIGN_ELECTRON`: the runtime; an argument: only stories whose id
// contains it.
import AxeBuilder from '@axe-core/playwright'
import { _electron, type Page } from '@playwright/test'
import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { serveFolder } from './served-folder.ts'

interface Story { readonly id: string; readonly tags?: readonly string[] }

const book = process.env['COUNTERSIGN_STORIES'] ?? ''
const pictures = resolve(import.meta.dirname, '../dist/stories')
/** What axe says of a whole page and not of a part of one: its landmarks, its first heading, where its headings begin. */
const rulesOfPages = ['region', 'landmark-one-main', 'page-has-heading-one', 'heading-order']

/** Shows a story and waits until it is drawn and its own steps are done; gives what went wrong. */
async function show(page: Page, id: string): Promise<readonly string[]> {
  return page.evaluate(async (storyId) => {
    const { __STORYBOOK_ADDONS_CHANNEL__: channel } = window as unknown as { __STORYBOOK_ADDONS_CHANNEL__: { on(event: string, heard: (said: unknown) => void): void; off(event: string, heard: (said: unknown) => void): void; emit(event: string, said: unknown): void } }
    const troubles = ['storyErrored', 'storyThrewException', 'storyMissing', 'playFunctionThrewException', 'unhandledErrorsWhilePlaying']
    const listeners: [string, (said: unknown) => void][] = []
    const went = await new Promise<readonly string[]>((done) => {
      const on = (event: string, heard: (said: unknown) => void): void => { listeners.push([event, heard]); channel.on(event, heard) }
      on('storyFinished', (said) => { if ((said as { storyId: string }).storyId === storyId) done([]) })
      for (const event of troubles) on(event, (said) => { done([`${event}: ${JSON.stringify(said instanceof Object && 'message' in said ? said.message : said).slice(0, 400)}`]) })
      channel.emit('setCurrentStory', { storyId, viewMode: 'story' })
    })
    for (const [event, heard] of listeners) channel.off(event, heard)
    return went
  }, id)
}

/** Axe's own page for its report needs a browser: legacy mode does without. */
async function violations(page: Page): Promise<readonly string[]> {
  const found = await new AxeBuilder({ page }).setLegacyMode().disableRules(rulesOfPages).analyze()
  return found.violations.flatMap(({ id, nodes }) => nodes.map((node) => `axe ${id} at ${String(node.target)}: ${node.failureSummary?.split('\n')[1]?.trim() ?? ''}`))
}

async function look(page: Page, stories: readonly Story[]): Promise<{ readonly passed: number; readonly failed: number }> {
  const errors: string[] = []
  page.on('console', (message) => { if (message.type() === 'error') errors.push(message.text().slice(0, 300)) })
  page.on('pageerror', (error) => errors.push(String(error)))
  const sum = { passed: 0, failed: 0 }
  for (const { id, tags = [] } of stories) {
    errors.length = 0
    const shown = await show(page, id)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      // A story that shows how the window stands a bug has one.
      const told = [...shown, ...(tags.includes('breaks') ? [] : errors), ...(await violations(page))]
      await page.screenshot({ path: join(pictures, `${id}-${colorScheme}.png`) })
      if (told.length === 0) sum.passed += 1
      else sum.failed += 1
      for (const line of new Set(told)) console.log(`${id}, ${colorScheme}: ${line}`)
    }
  }
  return sum
}

async function stories(): Promise<number> {
  const wanted = process.argv[2] ?? ''
  const { entries } = JSON.parse(readFileSync(join(book, 'index.json'), 'utf8')) as { readonly entries: Readonly<Record<string, Story>> }
  const all = Object.values(entries).filter(({ id }) => id.includes(wanted))
  mkdirSync(pictures, { recursive: true })
  const { url, close } = await serveFolder(book)
  const runtime = await _electron.launch({ executablePath: process.env['COUNTERSIGN_ELECTRON'] ?? '', args: [resolve(import.meta.dirname, '../build/bench/bare-app'), '--disable-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])] })
  try {
    const page = await runtime.firstWindow()
    // The window's own page first: it would come over ours.
    await page.getByRole('button').waitFor()
    await page.goto(`${url}/iframe.html?viewMode=story&id=${all.at(-1)?.id ?? ''}&globals=a11y.manual:!true`)
    // A story that is left before it is done makes the page load anew.
    await page.waitForFunction(() => ['finished', 'errored'].includes((window as unknown as { __STORYBOOK_PREVIEW__?: { currentRender?: { phase?: string } } }).__STORYBOOK_PREVIEW__?.currentRender?.phase ?? ''))
    const { passed, failed } = await look(page, all)
    console.log(`${all.length.toString()} stories, pictures in dist/stories/\n${passed} passed, ${failed} failed, 0 skipped`)
    return failed > 0 || passed === 0 ? 1 : 0
  } finally {
    await runtime.close()
    close()
  }
}

process.exitCode = await stories()
