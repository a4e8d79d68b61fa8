import { afterEach, describe, expect, it } from 'vitest'
import { languages } from '../../src-words/languages.ts'
import { words as english } from '../../src-words/en/window.ts'
import { speakIn, translated, translatedExactly } from './language.ts'
import { saidNumbers } from './said-numbers.ts'

afterEach(() => { speakIn({ ...languages.en, tag: 'en', messages: english }) })

describe('numbers that the main process says', () => {
  it('are written as the locale writes them, where they count something', () => {
    const caps = '10000 requests, 1200000 tokens, 2500.50 USD'
    expect(saidNumbers(caps, 'en')).toBe('10,000 requests, 1,200,000 tokens, 2,500.50 USD')
    expect(saidNumbers(caps, 'de')).toBe('10.000 requests, 1.200.000 tokens, 2.500,50 USD')
    expect(saidNumbers('All 10000 model requests of this task are used or reserved.', 'en')).toBe('All 10,000 model requests of this task are used or reserved.')
    expect(saidNumbers('5.00 USD', 'en')).toBe('5.00 USD')
  })

  it.each(['Port 18747 is taken by another program; the model proxy uses 40123.', 'the stored key of Provider 2000', 'see /var/10000 files', 'model-4096 tokens', 'v1.20000 tokens', '999 tokens', '12:10000x tokens', 'sha256:0000 bytesX'])('are left as they are where they may be a part of a name: %s', (text) => {
    expect(saidNumbers(text, 'de')).toBe(text)
  })

  it('are handed to the translation as they are shown', () => {
    speakIn({ ...languages.de, tag: 'de', messages: english, translate: (text) => text.replace(/^All (.+) tokens are used\.$/, 'Alle $1 Tokens sind verbraucht.') })
    expect(translated('All 200000 tokens are used.')).toBe('Alle 200.000 Tokens sind verbraucht.')
    expect(translatedExactly('All 200000 tokens are used.'), 'as it stands').toBe('Alle 200000 Tokens sind verbraucht.')
  })
})
