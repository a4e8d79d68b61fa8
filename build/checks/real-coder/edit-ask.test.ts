import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { compareEdit, editDigest } from '../../../src-main/core/approval/edit-call.ts'
import { bounded, openCoderBench, type CoderBench } from './coder-bench.ts'
import { prompt } from './scripted-provider.ts'

let bench: CoderBench
afterEach(async () => { await bench.close() })

const at = '/workspace/src/a.ts'
const text = `function one() {\n    const x = 1\n    -- x\n\n${'    keep()\n'.repeat(12)}    return x\n}\n`

type Call = readonly [what: string, tool: string, args: Readonly<Record<string, unknown>>]
const byName: readonly Call[] = [
  ['a new file', 'write', { filePath: '/workspace/new/b.ts', content: 'one\n\n  two' }],
  ['a file written over', 'write', { filePath: at, content: text.replace('const x = 1', 'const x = 2').replace('return x', 'return x + 1') }],
  ['indented lines alone', 'edit', { filePath: at, oldString: '    const x = 2\n    -- x', newString: '    const y = 3\n\n      deep()' }],
  ['every place of a text', 'edit', { filePath: at, oldString: 'keep()', newString: 'kept($1)'.replace('$1', '1'), replaceAll: true }],
  ['a file with other line ends', 'edit', { filePath: '/workspace/crlf.txt', oldString: 'a\nb', newString: 'a\nc' }],
  ['a file with a byte order mark', 'edit', { filePath: '/workspace/bom.txt', oldString: 'b', newString: 'c' }],
]
const byPatch: readonly Call[] = [
  ['a patch of three files', 'apply_patch', { patchText: `*** Begin Patch\n*** Add File: new/c.ts\n+one\n+\n*** Update File: src/a.ts\n@@ function one() {\n-    const x = 1\n+    const x = 9\n     -- x\n@@\n-    return x\n+    return 9\n*** Delete File: bom.txt\n*** End Patch` }],
  ['a patch that moves a file', 'apply_patch', { patchText: '*** Begin Patch\n*** Update File: src/a.ts\n*** Move to: moved/a.ts\n@@\n-    return 9\n+    return 10\n*** End Patch' }],
]

describe('what OpenCode asks before it edits', () => {
  test.each<[string, string, readonly Call[]]>([['write and edit', 'vendor/some-model', byName], ['apply_patch', 'vendor/gpt-5', byPatch]])('is exactly what the call does, worked out a second time, and the call stays as it was: %s', bounded, async (_tools, modelId, calls) => {
    bench = await openCoderBench()
    await mkdir(join(bench.workspaceDir, 'src'))
    await writeFile(join(bench.workspaceDir, 'src/a.ts'), text)
    await writeFile(join(bench.workspaceDir, 'crlf.txt'), 'a\r\nb\r\n')
    await writeFile(join(bench.workspaceDir, 'bom.txt'), '\uFEFFa\nb\n')
    const run = await bench.start({ model: { api: 'chat', modelId, contextTokens: 200_000, outputTokens: 32_000 }, permissions: { edit: 'ask', bash: 'ask' } })
    await bench.submit(run, await bench.session(run), prompt(...calls.map(([, name, args]) => ({ tools: [{ name, args }] })), { text: 'Done.' }))
    for (const [what, tool] of calls) {
      const ask = await bench.next('permission-asked')
      if (ask.edit === undefined || ask.diff === null) throw new Error(`${what}: the ask names no call`)
      expect([what, ask.edit.tool, compareEdit(ask.edit, ask.files, ask.diff)]).toEqual([what, tool, { is: 'derived' }])
      expect(compareEdit(ask.edit, ask.files, `${ask.diff}@@ -1,0 +1,1 @@\n+evil\n`).is).toBe('differs')
      expect(await run.answerPermission(ask.permissionId, { allow: true })).toEqual({ ok: true, value: null })
      const end = await bench.next('tool-ended')
      expect([what, end.outcome, end.callId]).toEqual([what, 'done', ask.callId])
      expect(editDigest(end.tool, end.input)).toBe(editDigest(ask.edit.tool, ask.edit.input))
    }
    expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'completed' })
    if (calls === byPatch) expect(await readFile(join(bench.workspaceDir, 'moved/a.ts'), 'utf8')).toContain('return 10')
  })
})
