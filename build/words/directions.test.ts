import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const folder = resolve(import.meta.dirname, '../../src-renderer')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /\.(?:css|tsx)$/.test(path) && !path.startsWith('dev'))

/** What names a side of the screen where the start or the end of a line is meant. */
const sided = [
  /\b(?:margin|padding|border|scroll-margin|scroll-padding)-(?:left|right)\b/, /(?:^|[\s;{])(?:left|right)\s*:/, /\btext-align:\s*(?:left|right)\b/, /\b(?:float|clear):\s*(?:left|right)\b/,
  /\bborder-(?:top|bottom)-(?:left|right)-radius\b/, /\btranslateX\((?!calc\(.*var\(--forward\)\))/, /\b(?:margin|padding|border)(?:Left|Right)\b/,
]

/** A shorthand of four values whose second and fourth differ. */
function isLopsided(line: string): boolean {
  const values = /\b(?:margin|padding|inset|scroll-margin|scroll-padding|border-width|border-color)\s*:\s*([^;]+);/.exec(line)?.[1]?.trim().split(/\s+(?![^(]*\))/) ?? []
  return values.length === 4 && values[1] !== values[3]
}

function offences(text: string): readonly string[] {
  return text.split('\n').filter((line) => !line.trimStart().startsWith('/*') && (isLopsided(line) || sided.some((pattern) => pattern.test(line)))).map((line) => line.trim())
}

describe('the window can be turned round for a language that is read from the right', () => {
  it.each(files)('%s names starts and ends of lines, no sides', (path) => {
    expect(offences(readFileSync(join(folder, path), 'utf8'))).toEqual([])
  })

  it.each(['  margin-left: 4px;', '  left: 0;', '  padding: 0 1px 0 2px;', '  text-align: right;', 'style={{ paddingLeft: 3 }}', '  transform: translateX(4px);', '  inset: 0 0 0 auto;'])('which would be seen in “%s”', (line) => {
    expect(offences(line)).toHaveLength(1)
  })

  it.each(['  margin-inline-start: 4px;', '  padding: 0 1px;', '  padding: 1px 2px 3px 2px;', '  inset: 0 0 auto;', '  transform: translateX(calc(12px * var(--forward)));', '  justify-content: flex-end;'])('and is not seen in “%s”', (line) => {
    expect(offences(line)).toEqual([])
  })
})
