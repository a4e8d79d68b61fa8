import { expect, test } from 'vitest'
import { parsedFiles } from './parsed-files.ts'

const change = { path: 'src/a.ts', status: 'modified' as const, additions: 1, deletions: 1, binary: false }
const files = (line: string) => [{ change, patch: `--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,1 +1,1 @@\n-one\n+${line}\n` }]
const keys = (of: ReturnType<typeof files>): readonly unknown[] => parsedFiles(of).items.map(({ fileDiff }) => fileDiff.cacheKey)

test('colours of one text are never kept for another, though path and length are the same', () => {
  const [first, second] = [files('two'), files('six')]
  expect(keys(first)).not.toEqual(keys(second))
  expect(keys(first)).toEqual(keys(first))
})

test('a patch is read once for as long as the review is the same; what cannot be read is named', () => {
  const review = [...files('two'), { change: { ...change, path: 'b.ts' }, patch: 'no patch' }, { change: { ...change, path: 'c.bin' }, patch: null }]
  const parsed = parsedFiles(review)
  expect(parsedFiles(review)).toBe(parsed)
  expect([parsed.items.map(({ id }) => id), parsed.broken]).toEqual([['src/a.ts'], ['b.ts']])
})
