import { words } from '../../src-words/en/window.ts'
import { isLanguageCode } from '../../src-words/languages.ts'
import { speakIn } from '../i18n/language.ts'
import { keepPresses } from '../kept-presses.ts'
import '../styles.ts'
import { FakeMain } from './fake-bridge.ts'
import { pseudoWords } from './pseudo.ts'
import { scenes } from './scenes.ts'
import * as fixtures from './fixtures.ts'

// Opens the window on fixtures: ?scene=live&flags=dark,compact&language=de. For looking at and for measuring; never shipped. Two languages are for
// tests only: `pseudo` is longer than English and accented, `pseudo-rtl` is read from the right too.
const query = new URLSearchParams(location.search)
const language = query.get('language')
const main = new FakeMain(scenes[query.get('scene') ?? 'live']?.() ?? [], new Set((query.get('flags') ?? '').split(',')), isLanguageCode(language) ? language : 'en')
Object.assign(window, { countersign: main.bridge, dev: { main, fixtures } })
if (isLanguageCode(language)) document.documentElement.lang = language
const { openWindow } = await import('../main.tsx')
await openWindow(keepPresses(window))
if (language === 'pseudo') speakIn({ tag: 'en-XA', numbers: 'en-US', times: 'en-GB', direction: 'ltr', messages: pseudoWords(words) })
if (language === 'pseudo-rtl') speakIn({ tag: 'ar-XB', numbers: 'he-IL', times: 'en-GB', direction: 'rtl', messages: pseudoWords(words) })
