import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { said } from '../../../src-words/de/said.ts'
import { words as german } from '../../../src-words/de/window.ts'
import { words as english } from '../../../src-words/en/window.ts'
import { languages } from '../../../src-words/languages.ts'
import { translatorOf } from '../../../src-words/said.ts'
import { speakIn } from '../../i18n/language.ts'
import { isAsRecorded, summaryShown } from './summary.ts'

describe('a line of Audit in German', () => {
  beforeEach(() => { speakIn({ ...languages.de, tag: 'de', messages: german, translate: translatorOf(said) }) })
  afterEach(() => { speakIn({ ...languages.en, tag: 'en', messages: english }) })

  it.each([
    ['message-said', 'coder: The file a.ts does not exist.'], ['hold-opened', 'command: Bot B wants to run a command · exit 1'], ['command-ran', 'exit 0 · node gen.js 10000 files'], ['question-passed-to-owner', 'The file config.json does not exist. Which port is meant?'], ['rejected', 'no'],
  ])('holds what somebody else said or ran as it is on record: %s', (type, summary) => {
    expect([summaryShown({ type, summary }), isAsRecorded({ type, summary })]).toEqual([summary, true])
  })

  it('is translated where all of it is the app\'s own', () => {
    expect(summaryShown({ type: 'workspace-prepared', summary: '12845 files, 1460000 bytes, base 0a1b2c3d4e5f' }), 'counts as the language writes them').toBe('12.845 Dateien, 1.460.000 Bytes, Basis 0a1b2c3d4e5f')
    expect(summaryShown({ type: 'call-settled', summary: 'call 1204 direct, status 200, 12845 in, 1204 out' })).toMatch(/12\.845 .*1\.204/)
    expect([summaryShown({ type: 'verification-started', summary: 'in a clean copy' }), isAsRecorded({ type: 'verification-started', summary: 'in a clean copy' })]).toEqual(['in einer sauberen Kopie', false])
  })
})
