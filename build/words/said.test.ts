import { describe, expect, it } from 'vitest'
import { said as german } from '../../src-words/de/said.ts'
import { anyValue, translatorOf, type SaidPair } from '../../src-words/said.ts'
import { hostTexts, textsIn, type HostText } from './host-texts.ts'

/** Files whose texts no owner is shown, by the reason for that. */
const unshownFiles: Readonly<Record<string, RegExp>> = {
  'bots read them': /^src-main\/(?:core\/lead\/prompts|core\/task\/turn-text)\.ts$/,
  'the demo model and the doubles of tests say them': /^src-main\/(?:demo|adapters\/memory)\//,
  'tests and the command line read them': /^src-main\/(?:core\/task\/laws|engine\/failpoints|proxy\/(?:standalone[\w-]*|countersign-proxy|entry))\.ts$/,
  'the log and the diagnostics have them, for whoever helps': /^src-main\/(?:core\/envelope\/.*|core\/diagnostics\/logged-facts|adapters\/system\/(?:log|rotating-file)|adapters\/proxy\/vendor-egress)\.ts$/,
  'they are HTTP': /^src-main\/(?:proxy\/(?:http1\/reply|stream-end|upstream|text-reply)|shell\/app-protocol)\.ts$/,
  'shells and programs run them': /^src-main\/adapters\/(?:opencode\/cli\/(?:runner|observer)-script|sandbox\/(?:scripts|seatbelt-profile|seatbelt-trials|inherited-descriptors|bubblewrap-arguments|unprivileged|run-folder)|sqlite\/schema|workspace\/test-commands)\.ts$/,
  'they are patches': /^src-main\/(?:adapters\/workspace\/(?:git-patch|line-hunks)|core\/approval\/patch-text)\.ts$/,
}

/** Texts that no owner is shown, or that are the same in every language, by the reason for that. */
const unshownTexts: Readonly<Record<string, RegExp>> = {
  'names and units': /^(?:Countersign(?:: \uE000)?|Host|Demo|\uE000 (?:GiB|MiB|USD)|UNC path)$/,
  'headers and heads of HTTP': /^(?:(?:Bearer|Basic) \uE000$|HTTP\/1\.1 )/,
  'SQL': /^(?:SELECT |\(stream = )/,
  'names of processes': /^Countersign (?:model proxy|demo model)$/,
  'files that others read': /^(?:\[Desktop Entry\]|ref: refs\/heads\/|\uE000 sha256 \uE000$)/,
  'scripts': /^(?:\(echo x > made |host=\$1 blocks=)/,
  'words for a model': /^(?:You are being tested\. .*|Say hello\.|Mend the result that this replies to\.|\((?:no text|not available|\uE000: no text)\))$/,
  'what a command itself prints': /^(?:sandbox: \uE000\n|refused: \uE000|true|\uE000\n\(The sandbox: this command \uE000\.\)\n)$/,
  'titles and names that are kept': /^(?:countersign \uE000|coder-\uE000|\uE000 \(revision\)|Sample)$/,
  'the log': /^(?:the tap of call \uE000 broke: .*|a message of the app was not understood|what was open at the stop did not end within \uE000 s|unknown fault)$/,
  'what a model\'s provider said, with its status': /^ \(HTTP \uE000\)$/,
}

const texts = [...hostTexts('src-main'), ...hostTexts('src-preload')]
const told = texts.filter((text) => text.told && !Object.values(unshownFiles).some((files) => files.test(text.path)) && !Object.values(unshownTexts).some((some) => some.test(text.text)))

/** Which pairs translate a text, and which words of it they leave as they are. */
function tryOut(pairs: readonly SaidPair[]): (text: string) => { readonly used: ReadonlySet<SaidPair>; readonly left: readonly string[] } {
  let used = new Set<SaidPair>()
  let left: string[] = []
  const translate = translatorOf(pairs, { used: (pair) => { used.add(pair) }, copied: (value) => { left.push(value) } })
  const remembered = new Map<string, { readonly used: ReadonlySet<SaidPair>; readonly left: readonly string[] }>()
  return (text) => {
    const known = remembered.get(text)
    if (known !== undefined) return known
    used = new Set()
    left = []
    translate(text)
    const made = { used, left: used.size === 0 ? [text] : left.filter((value) => /\p{L}{2,}/u.test(value)) }
    remembered.set(text, made)
    return made
  }
}

/** The texts that are not translated to their last word. */
function untranslated(pairs: readonly SaidPair[], some: readonly HostText[]): readonly string[] {
  const of = tryOut(pairs)
  return some.flatMap(({ path, line, text }) => {
    const { left } = of(text)
    return left.length === 0 ? [] : [`${path}:${String(line)}: ${text.replaceAll(anyValue, '{}')}${left[0] === text ? '' : ` (${left.join(' | ').replaceAll(anyValue, '{}')})`}`]
  })
}

describe('what the main process says', () => {
  it('is translated to its last word, wherever the source says it', () => {
    expect(told.length).toBeGreaterThan(1_000)
    expect(untranslated(german, told)).toEqual([])
  })

  it('is noticed when a sentence is added that has no translation, however the source builds it', () => {
    const source = (code: string): readonly HostText[] => textsIn('new.ts', code).filter((text) => text.told)
    const pairs: readonly SaidPair[] = [['It broke.', 'Es brach.'], ['It took {n} s: {why}', 'Es brauchte {n} s: {why}'], ['a slow disk', 'eine langsame Festplatte']]
    expect(untranslated(pairs, source('failure(\'internal\', \'It broke.\', ok ? \'It broke.\' : \'It is lost.\')'))).toEqual(['new.ts:1: It is lost.'])
    expect(untranslated(pairs, source('const text = `It took ${n} s: ${disk ? \'a slow disk\' : `a slow ${what}`}`'))).toEqual(['new.ts:1: It took {} s: a slow {} (a slow {})'])
    expect(untranslated(pairs, source('say(\'It broke.\' + \' Call \' + number)'))).toEqual(['new.ts:1: It broke. Call {} (Call {})'])
    expect(untranslated(pairs, source('fact({ label: \'Speed\', value: \'It broke.\' })'))).toEqual(['new.ts:1: Speed'])
    expect(untranslated(pairs, source('log(\'error\', \'a disk was slow\'); if (said === \'It is lost.\') throw new Error(`no ${what} of it`)'))).toEqual([])
  })

  it('has no translation of what nobody says any more', () => {
    const of = tryOut(german)
    const alive = new Set(texts.flatMap(({ text }) => [...of(text).used]))
    expect(german.filter((pair) => !alive.has(pair)).map(([english]) => english)).toEqual([])
  })

  it('has one translation of each sentence', () => {
    const forms = german.map(([english]) => english.replace(/\{\w+\}/g, '{}'))
    expect(forms.filter((form, at) => forms.indexOf(form) !== at)).toEqual([])
  })

  it.each([['file', unshownFiles, texts.map(({ path }) => path)], ['text', unshownTexts, texts.filter((text) => text.told).map(({ text }) => text)]] as const)('passes over no %s that is not there', (_, reasons, all) => {
    expect(Object.entries(reasons).filter(([, some]) => !all.some((one) => some.test(one))).map(([reason]) => reason)).toEqual([])
  })

  it('names the same things in German', () => {
    const names = (text: string): readonly string[] => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''))].toSorted()
    expect(german.filter(([english, translated]) => names(english).join() !== names(translated).join()).map(([english]) => english)).toEqual([])
  })

  it('ends in German as it ends in English, so that sentences stand beside each other', () => {
    const end = (text: string): string => /[.:?;,]$/.exec(text)?.[0] ?? ''
    expect(german.filter(([english, translated]) => end(english) !== end(translated) && !translated.endsWith(',')).map(([english]) => english)).toEqual([])
  })
})

describe('the translator', () => {
  it('knows a text by its English words, and takes over what it names', () => {
    const translate = translatorOf([['Stopped.', 'Gestoppt.'], ['{who} took {n} of (all) {what}', 'Von {what} (allen) nahm {who} {n}']])
    expect(['Stopped.', 'Bot B took 3 of (all) files', 'Bot B took 3 of files', 'Stopped'].map(translate)).toEqual(['Gestoppt.', 'Von files (allen) nahm Bot B 3', 'Bot B took 3 of files', 'Stopped'])
  })

  it('takes nothing of what a text names for a name or for a pattern', () => {
    const translate = translatorOf([['Refused: {why}', 'Verweigert: {why}']])
    expect(translate('Refused: {why} $& $1 .*\nrm -rf')).toBe('Verweigert: {why} $& $1 .*\nrm -rf')
  })

  it('translates a reason within a reason, and nothing that somebody else wrote', () => {
    const translate = translatorOf([['Refused: {why}', 'Verweigert: {why}'], ['it ended ({words})', 'es endete ({words})'], ['too late', 'zu spät']])
    expect(['Refused: Refused: too late', 'Refused: it ended (too late)'].map(translate)).toEqual(['Verweigert: Verweigert: zu spät', 'Verweigert: es endete (too late)'])
  })

  it('takes a sentence around another one for the outer, whichever is longer', () => {
    const translate = translatorOf([['It runs: {what}.', 'Es läuft: {what}.'], ['{version}: no network at all, at most {n} s', '{version}: gar kein Netz, höchstens {n} s'], ['{who} failed: {why}', 'Fehlschlag bei {who}: {why}']])
    expect(['It runs: bwrap 1: no network at all, at most 3 s.', 'Bot A failed: bwrap 1: no network at all, at most 3 s'].map(translate)).toEqual(['Es läuft: bwrap 1: gar kein Netz, höchstens 3 s.', 'Fehlschlag bei Bot A: bwrap 1: gar kein Netz, höchstens 3 s'])
  })

  it('translates several sentences one by one, and leaves the unknown ones', () => {
    const translate = translatorOf([['{n} files copied at {name}.', '{n} Dateien kopiert, Stand {name}.'], ['{n} files copied.', '{n} Dateien kopiert.'], ['No commit yet.', 'Noch kein Commit.']])
    expect(translate('3 files copied. No commit yet.')).toBe('3 Dateien kopiert. Noch kein Commit.')
    expect(translate('3 files copied at abc. Whatever it says. No commit yet.')).toBe('3 Dateien kopiert, Stand abc. Whatever it says. Noch kein Commit.')
  })

  it('takes several sentences for one text where they are known together', () => {
    const translate = translatorOf([['Turn {n} ran. Look at it. It was not sent.', 'Runde {n} lief. Sehen Sie nach. Nicht gesendet.'], ['It ended.', 'Es endete.']])
    expect(translate('It ended. Turn 2 ran. Look at it. It was not sent. Whatever.')).toBe('Es endete. Runde 2 lief. Sehen Sie nach. Nicht gesendet. Whatever.')
  })

  it('takes no words for a number, for an id or for a sentence without words', () => {
    const translate = translatorOf([['tree {id}', 'Baum {id}'], ['{n} turns', '{n} Runden'], ['{path} ({what})', '{path} ({what})'], ['packages', 'Pakete'], ['none', 'keine'], ['{kind}: {what} · {detail}', '{kind}: {what} · {detail}'], ['{who} asks', '{who} fragt'], ['open', 'offen']])
    expect(['tree 0a1b', 'tree of life', '4 turns', 'none turns', 'few turns', 'deps (packages)', 'deps (3)', 'open: Bot A asks · none at all', 'open: no such file · none'].map(translate)).toEqual(['Baum 0a1b', 'tree of life', '4 Runden', 'keine Runden', 'few turns', 'deps (Pakete)', 'deps (3)', 'offen: Bot A fragt · none at all', 'open: no such file · none'])
  })

  it('needs time in proportion to a text, whatever it repeats', () => {
    const translate = translatorOf([['{a}, {b}, {c}, {d}, {e}, {f}.', '{f}{e}{d}{c}{b}{a}.'], ['x {a} x {b} x {c} x {d} x', '{a}{b}{c}{d}']])
    const started = performance.now()
    expect(translate(`${'x , '.repeat(20_000)}!`)).toContain('!')
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})
