import fc from 'fast-check'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { Prose } from './markdown.tsx'

const shown = (text: string): string => renderToStaticMarkup(createElement(Prose, { text }))

describe('Prose', () => {
  it.each(['![i](http://example.test/x.png)', '<img src="http://example.test/x.png" onerror="x()">', '[web](http://example.test/)', '[x](javascript:x())', '<script>x()</script>', '<iframe src="http://example.test/"></iframe>', '<form><button>Approve</button></form>', '<div style="position:fixed">x</div>'])('makes of a bot\'s words nothing that loads, runs, leads away or passes for the window: %s', (text) => {
    const html = shown(text)
    expect(new Set([...html.matchAll(/<(\w+)/g)].map(([, tag]) => tag))).toEqual(new Set(text.startsWith('<') ? ['div', ...(html.includes('<p>') ? ['p'] : [])] : ['div', 'p', 'span']))
    expect([...html.matchAll(/<\w+ (\w+)=/g)].every(([, attribute]) => attribute === 'class')).toBe(true)
  })

  it.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'vbscript:x', 'https://example.test/'])('shows where a link or a picture leads, whatever that is: %s', (target) => {
    expect(shown(`[words](${target}) ![picture](${target})`).match(new RegExp(`\\(${target.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\)`, 'g'))).toHaveLength(2)
  })

  it('spells out what would reorder or control the words around it, in code and tables too', () => {
    const html = shown('a \u202Eb\n\n`c\u202Ed`\n\n| e\u2066 |\n|---|\n| f\u001B[31m |')
    for (const char of ['\u202E', '\u2066', '\u001B']) expect(html).not.toContain(char)
    expect(html.match(/<mark class="invisible"/g)).toHaveLength(4)
  })

  it('draws a plain sentence as the parser would', () => {
    const words = fc.constantFrom('I', 'part', 'über', 'данные', '12', '1.', '7)', '-', '--', '- x', 'http', 'https://', 'www.', 'WWW.a.de', 'a.b/c', ':', '/', "it's", '"so"', '(c)', '50%', '?!', ' ', '             ', 'ㅤ', 'e\u0301', '#', '*', '&', '@')
    fc.assert(fc.property(fc.array(words, { minLength: 1, maxLength: 6 }), fc.constantFrom(' ', ''), (some, between) => {
      const text = some.join(between)
      // A line feed at the end is nothing to Markdown, and has the sentence go the long way.
      expect(shown(text)).toBe(shown(`${text}\n`))
    }), { numRuns: 500 })
    expect(shown('I look at part 3 of the library, since it says so.')).toBe('<div class="prose"><p>I look at part 3 of the library, since it says so.</p></div>')
  })

  it.each([['quotes', `${'>'.repeat(3_000)} deep`], ['quotes with blanks', `${' > '.repeat(3_000)} deep`], ['lists', Array.from({ length: 400 }, (_, at) => `${'  '.repeat(at)}- x`).join('\n')], ['brackets', '['.repeat(4_000) + '](x)'.repeat(4_000)], ['brackets with words', '[a '.repeat(4_000)], ['emphasis', `${'*'.repeat(6_000)}x${'_'.repeat(6_000)}`]])('shows a text that nests without end as it is: %s', (_what, text) => {
    expect(shown(text).startsWith('<div class="prose plain-text">')).toBe(true)
  })
})
