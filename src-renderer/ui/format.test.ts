import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { languages } from '../../src-words/languages.ts'
import { words as german } from '../../src-words/de/window.ts'
import { words as english } from '../../src-words/en/window.ts'
import { speakIn } from '../i18n/language.ts'
import { asSentence, asTyped, bytes, count, countdown, duration, exactMoney, hourAndMinute, lineCount, money, moment, shortDigest, splitPath, ungrouped } from './format.ts'

describe('format', () => {
  it('keeps every digit of a count', () => {
    expect(count(123_090)).toBe('123,090')
  })

  it('ends the words of a system with a full stop, and only where there is none', () => {
    expect(['connect ECONNREFUSED', 'It is full.', 'Why?', 'wait…'].map(asSentence)).toEqual(['connect ECONNREFUSED.', 'It is full.', 'Why?', 'wait…'])
  })

  it('shows bytes in a unit that a person can read', () => {
    expect([0, 812, 1_024, 123_090, 1_992_294].map(bytes)).toEqual(['0 B', '812 B', '1.0 KB', '120 KB', '1.9 MB'])
  })

  it('never rounds a running time up, so that a deadline is not announced as passed too early', () => {
    expect([0, 999, 9_999, 59_999, 60_000, 3_723_000].map(duration)).toEqual(['0 ms', '999 ms', '9.9 s', '59 s', '1:00', '1:02:03'])
    expect([-5, 9_400, 271_000].map(countdown)).toEqual(['0:00', '0:09', '4:31'])
  })

  it('does not show a small sum as nothing', () => {
    expect([0, 4_200, 1_200_000].map(money)).toEqual(['$0.00', '$0.0042', '$1.20'])
  })

  it('shortens a digest to its first twelve digits', () => {
    expect(shortDigest(`sha256:${'ab'.repeat(32)}`)).toBe('abababababab')
  })

  it('splits a path so that its name stays whole', () => {
    expect(splitPath('src/shipping/cost.ts')).toEqual({ folder: 'src/shipping/', name: 'cost.ts' })
    expect(splitPath('cost.ts')).toEqual({ folder: '', name: 'cost.ts' })
    expect(splitPath('/home/me/')).toEqual({ folder: '/home/', name: 'me' })
  })

  it('counts lines with and without a last line end', () => {
    expect(['', 'a', 'a\n', 'a\nb'].map(lineCount)).toEqual([0, 1, 1, 2])
  })
})

describe('format in German', () => {
  const plain = (text: string): string => text.replaceAll('\u00a0', ' ')
  beforeEach(() => { speakIn({ ...languages.de, tag: 'de', messages: german }) })
  afterEach(() => { speakIn({ ...languages.en, tag: 'en', messages: english }) })

  it('writes numbers, sizes, times and money as it is done there', () => {
    expect([count(123_090), bytes(1_992_294), duration(4_200), countdown(271_000)]).toEqual(['123.090', '1,9 MB', '4,2 s', '4:31'])
    expect([money(4_200), money(1_200_000), exactMoney(1_204_500)].map(plain)).toEqual(['0,0042 $', '1,20 $', '1,204500 $'])
    const at = new Date(2026, 10, 3, 14, 3, 9).getTime()
    expect([moment(at), hourAndMinute(at)].map(plain)).toEqual(['03. Nov. 2026, 14:03:09', '14:03'])
  })

  it('reads what is typed there', () => {
    expect(['1.000', '1.250,75', '2,50', '2.50', '200 000', '20.00.000'].map(ungrouped)).toEqual(['1000', '1250.75', '2.50', '2.50', '200000', '20.00.000'])
    expect(ungrouped(asTyped('1204.5'))).toBe('1204.5')
  })
})
