import { describe, expect, it } from 'vitest'
import { compileTree } from './compile.ts'
import { createCatalogue } from '../../src-words/catalogue.ts'
import { languageFor } from '../../src-words/languages.ts'

const english = { room: { stop: 'Stop task', rows: '{n, plural, one {# new row} other {# new rows}} by {who}', brace: 'The port is \'{port}\'' } } as const
const german = { room: { stop: 'Aufgabe stoppen', rows: '{n, plural, one {# neue Zeile} other {# neue Zeilen}} von {who}', brace: 'Der Port ist \'{port}\'' } } as const

describe('a catalogue', () => {
  it.each([['as it is written', english, german], ['as a build compiles it', compileTree(english) as unknown as typeof english, compileTree(german) as unknown as typeof german]])('speaks the language that is chosen, %s', (_, en, de) => {
    const { words, use } = createCatalogue(en)
    expect([words.room.stop, words.room.rows({ n: 1, who: 'Bot B' }), words.room.rows({ n: 1_200, who: 'Bot B' }), words.room.brace]).toEqual(['Stop task', '1 new row by Bot B', '1,200 new rows by Bot B', 'The port is {port}'])
    use('de-DE', de)
    expect([words.room.stop, words.room.rows({ n: 1, who: 'Bot B' }), words.room.rows({ n: 1_200, who: 'Bot B' }), words.room.brace]).toEqual(['Aufgabe stoppen', '1 neue Zeile von Bot B', '1.200 neue Zeilen von Bot B', 'Der Port ist {port}'])
    use('en-US', en)
    expect(words.room.stop).toBe('Stop task')
  })

  it('names each word of a group, as an object of texts does', () => {
    const { words } = createCatalogue({ steps: { first: 'One', second: 'Two' } } as const)
    expect(Object.values(words.steps)).toEqual(['One', 'Two'])
  })

  it('refuses a language in which a word is missing, when that word is read', () => {
    const { words, use } = createCatalogue(english)
    use('de-DE', { room: {} })
    expect(() => words.room.stop).toThrow('room.stop')
  })
})

it.each([['system', 'de-AT', 'de'], ['system', 'de', 'de'], ['system', 'de_CH.UTF-8', 'de'], ['system', 'en-GB', 'en'], ['system', 'fr-FR', 'en'], ['system', '', 'en'], ['system', 'constructor', 'en'], ['en', 'de-DE', 'en'], ['de', 'en-US', 'de']] as const)('with the choice %s on a system in “%s” the app speaks %s', (choice, system, spoken) => {
  expect(languageFor(choice, system)).toBe(spoken)
})
