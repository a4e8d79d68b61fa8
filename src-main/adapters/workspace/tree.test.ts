import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeBed, type Bed } from './test-bed.suite.ts'
import { compareBytes, treeDigest } from './tree.ts'

let bed: Bed
beforeEach(async () => { bed = await makeBed() })
afterEach(() => bed.remove())

test('orders paths as their UTF-8 bytes do', () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
    expect(Math.sign(compareBytes(a, b))).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))))
  }))
  expect(compareBytes('\uFFFD', '😀')).toBeLessThan(0)
})

test('a stranger recomputes the digest of a tree from its doc comment with find, sha256sum and an RFC 8785 library', async () => {
  await bed.put({ 'a.txt': 'x', 'a/b.txt': '', 'a-b': 'y\n', 'ü/new\nline': 'z', '😀': '1', '\uFFFD': '2', run: '#!/bin/sh\n' })
  await chmod(join(bed.project, 'run'), 0o755)
  await symlink('../a.txt', join(bed.project, 'a/link'))
  const prepared = await bed.prepared()
  const script = 'find . \\( -type f -o -type l \\) -print0 | LC_ALL=C sort -z | while IFS= read -r -d "" p; do t=file; x=false; [ -L "$p" ] && t=link; [ $t = file ] && [ -x "$p" ] && x=true; if [ $t = link ]; then c=$(readlink -n "$p" | base64 -w0); else c=$(base64 -w0 "$p"); fi; printf "%s\\0%s\\0%s\\0%s\\0" "${p#./}" $t $x "$c"; done'
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: bed.project })
  const fields = stdout.split('\0').slice(0, -1)
  const entries = Array.from({ length: fields.length / 4 }, (_, i) => {
    const content = Buffer.from(fields[i * 4 + 3] ?? '', 'base64')
    return [fields[i * 4], fields[i * 4 + 1], fields[i * 4 + 2] === 'true', content.byteLength, createHash('sha256').update(content).digest('hex')]
  })
  expect(entries).toHaveLength(8)
  expect(prepared.baseDigest).toBe(`sha256:${createHash('sha256').update(canonicalize({ tree: 1, entries }) ?? '').digest('hex')}`)
})

test('the digest of an empty tree is that of its canonical form', async () => {
  expect(await treeDigest([])).toBe(`sha256:${createHash('sha256').update('{"entries":[],"tree":1}').digest('hex')}`)
})
