import { expect, type Page } from '@playwright/test'
import { said } from '../src-words/de/said.ts'
import { translatorOf } from '../src-words/said.ts'

/** What is wrong with the words of a screen, each with the text that shows it. */
export interface WordFaults {
  /** Labels of which a part cannot be seen, with no tooltip that has the whole. */
  readonly clipped: readonly string[]
  /** Texts that did not come from the catalogue. */
  readonly foreign: readonly string[]
}

/** Names and units that are the same in every language, an example of a vendor, and what React Aria says by itself in the languages that it has. */
const alike = ['Countersign', 'OpenCode', 'Electron', 'Chromium', 'SQLite', 'Node', 'English', 'Deutsch', 'B', 'KB', 'MB', 'GB', 'TB', 'ms', 's', 'POST', 'GET', 'U', 'UTC', 'Muse', 'Dismiss', 'Collapse', 'Expand']

/** Looks at every text on a page of the window on fixtures that speaks the pseudo-language: those of `isPseudo` are looked at for words of another source, too. */
export async function wordFaults(page: Page, isPseudo: boolean): Promise<WordFaults> {
  return page.evaluate(([names, pseudo]) => {
    const data = (window as unknown as { readonly dev: { readonly main: { readonly said: readonly string[] } } }).dev.main.said.join('\n').replaceAll('\\n', '\n').replaceAll('\\"', '"')
    const isShown = (element: Element): boolean => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && element.closest('.unseen') === null
    const clipped = new Set<string>()
    const foreign = new Set<string>()
    const isData = (text: string): boolean => data.includes(text.replace(/^· /, '')) || /^OpenCode \d/.test(text)
    const isForeign = (text: string): boolean => {
      if (/^\d\d [A-Z][a-z]{2} \d{4}, /.test(text)) return false
      const words = (text.match(/[A-Za-z]{2,}/g) ?? []).filter((word) => !names.includes(word))
      return words.length > 0 && !data.includes(text) && !words.every((word) => data.includes(word)) && !/[ÁáéíóúñšţŕðçƀĝĥķļɱþɋṽŵẋýžÉÍÓÚÑŠŢŔÐÇƁƑ~]/.test(text)
    }
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walk.nextNode(); node !== null; node = walk.nextNode()) {
      const text = node.textContent?.trim() ?? ''
      const element = node.parentElement
      if (text === '' || element === null || element.matches('textarea') || !isShown(element)) continue
      const isCode = element.closest('.mono, .code, .digest, .path, .exact, pre, code, kbd, .prose') !== null
      if (pseudo && !isCode && isForeign(text)) foreign.add(text)
      // What an owner or a bot wrote may be cut: it is in the room, whole.
      if (isCode || element.closest('[title]') !== null || isData(text)) continue
      const range = document.createRange()
      range.selectNodeContents(node)
      const box = range.getBoundingClientRect()
      if (box.width === 0) continue
      let free = true
      for (let around: Element | null = element; around !== null && around !== document.documentElement; around = around.parentElement) {
        const style = getComputedStyle(around)
        if (style.overflowX === 'auto' || style.overflowX === 'scroll') { free = false; break }
        const inside = around.getBoundingClientRect()
        const control = around.matches('button, .badge, .segment, [role="tab"], .nav-button')
        if ((style.overflowX !== 'visible' || control) && style.display !== 'inline' && (box.left < inside.left - 1 || box.right > inside.right + 1)) clipped.add(`${text} <${around.className}>`)
        if (style.overflowX !== 'visible') { free = false; break }
      }
      if (free && (box.right > window.innerWidth + 1 || box.left < -1)) clipped.add(`${text} <outside of the window>`)
    }
    if (pseudo) {
      for (const element of document.querySelectorAll('[aria-label], [title], [placeholder]')) {
        for (const name of ['aria-label', 'title', 'placeholder']) {
          const text = element.getAttribute(name) ?? ''
          const example = name === 'placeholder' && element.closest('.input-mono') !== null
          if (text !== '' && !example && element.closest('.exact, .prose') === null && isForeign(text)) foreign.add(`${name}=${text}`)
        }
      }
    }
    return { clipped: [...clipped], foreign: [...foreign] }
  }, [alike, isPseudo] as const)
}

/** A screen of the window on fixtures, and the keys and clicks that lead to it; none names a word. */
export interface FixtureScreen {
  readonly name: string
  readonly scene: string
  readonly flags?: string
  /** The keys that lead there, and what is there then. */
  readonly by?: { readonly keys: string; readonly shows: string }
  readonly click?: string
}

const germanOf = translatorOf(said)

/** Sentences of the main process that a page in German still shows in English. Not looked at: what is approved or run, what somebody else wrote, and the audit's record. */
export async function leftInEnglish(page: Page): Promise<readonly string[]> {
  const shown = await page.evaluate(() => {
    const texts = new Set<string>()
    const original = '[lang="en"], pre, code, kbd, .code, .digest, .path, .mono, .prose, textarea'
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walk.nextNode(); node !== null; node = walk.nextNode()) if (node.parentElement?.closest(original) === null) texts.add(node.textContent?.trim() ?? '')
    for (const element of document.querySelectorAll('[aria-label], [title]')) if (element.closest(original) === null) for (const name of ['aria-label', 'title']) texts.add(element.getAttribute(name) ?? '')
    return [...texts]
  })
  // A single word may be German too, or a code that stands as it is.
  return shown.filter((text) => /\p{L} \p{L}/u.test(text) && germanOf(text) !== text)
}

const settings = (nth: number, flags = ''): FixtureScreen => ({ name: `settings ${nth}`, scene: 'live', flags, by: { keys: 'Control+,', shows: '.settings-nav' }, click: `.settings-nav .nav-button:nth-child(${nth})` })

/** Every screen of the window, each with all that it can show. */
export const fixtureScreens: readonly FixtureScreen[] = [
  { name: 'first run', scene: 'first', flags: 'problems,scripted' }, { name: 'room', scene: 'live' }, { name: 'previews', scene: 'previews' }, { name: 'hold', scene: 'hold' }, { name: 'holds', scene: 'holds' }, { name: 'edit', scene: 'edit' },
  { name: 'standing grant', scene: 'hold', click: '.approval-buttons .button:not(.approval-button)' }, { name: 'denied only', scene: 'concealed' }, { name: 'budget', scene: 'budget' }, { name: 'brief', scene: 'brief' }, { name: 'question', scene: 'question' },
  { name: 'ready', scene: 'ready' }, { name: 'accepted', scene: 'accepted' }, { name: 'trouble', scene: 'trouble' }, { name: 'stopping', scene: 'stopping', flags: 'scripted' }, { name: 'stopped', scene: 'stopped' }, { name: 'long', scene: 'long' },
  { name: 'inspector', scene: 'trouble', by: { keys: 'Control+i', shows: '.inspector' } }, { name: 'palette', scene: 'live', by: { keys: 'Control+k', shows: '.palette' } }, { name: 'new task', scene: 'live', by: { keys: 'Control+n', shows: '[data-screen="new-task"]' } }, { name: 'audit', scene: 'live', by: { keys: 'Control+3', shows: '[data-screen="audit"]' } },
  { name: 'review', scene: 'ready', flags: 'unverified,notes', by: { keys: 'Control+2', shows: '[data-screen="review"]' } }, { name: 'review without a change', scene: 'review', flags: 'no-change,notes' },
  ...Array.from({ length: 11 }, (_, at) => settings(at + 1, at === 2 ? 'no-isolation' : '')),
]

/** Goes to a screen whose page is open already and drawn. */
export async function goTo(page: Page, screen: FixtureScreen): Promise<void> {
  const { by, click } = screen
  if (by !== undefined) {
    const there = page.locator(by.shows).first()
    // A key that comes before the window listens is nobody's.
    await expect(async () => {
      if (!(await there.isVisible())) await page.keyboard.press(by.keys)
      await expect(there).toBeVisible({ timeout: 2_000 })
    }).toPass()
  }
  if (click !== undefined) await page.locator(click).first().click()
}
