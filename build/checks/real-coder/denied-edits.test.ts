import { readdir } from 'node:fs/promises'
import { afterEach, describe, expect, test } from 'vitest'
import type { CoderSignal } from '../../../src-main/engine/ports.ts'
import { bounded, openCoderBench, type CoderBench } from './coder-bench.ts'
import { prompt } from './scripted-provider.ts'

let bench: CoderBench
afterEach(async () => { await bench.close() })

type Ask = Extract<CoderSignal, { is: 'permission-asked' }>
const write = (name: string): { name: string; args: unknown } => ({ name: 'write', args: { filePath: `/workspace/${name}`, content: `${name}\n` } })

/** A turn that asks for these edits and one command, all at once. */
async function asked(...names: readonly string[]): Promise<{ readonly answer: (of: string, deny?: string) => Promise<unknown> }> {
  bench = await openCoderBench()
  const run = await bench.start({ permissions: { edit: 'ask', bash: 'ask' } })
  await bench.submit(run, await bench.session(run), prompt({ tools: [...names.map(write), { name: 'bash', args: { command: 'echo beside', description: 'x' } }] }, { text: 'Understood.' }))
  const asks: Ask[] = []
  while (asks.length <= names.length) asks.push(await bench.next('permission-asked'))
  return {
    answer: (of, deny) => {
      const ask = asks.find(({ command, files }) => (command ?? files[0]?.path.slice('/workspace/'.length)) === of)
      return run.answerPermission(ask?.permissionId ?? '', deny === undefined ? { allow: true } : { allow: false, message: deny })
    },
  }
}
const ends = (): string[] => bench.of('tool-ended').map(({ tool, outcome }) => `${tool} ${outcome}`).toSorted()

describe('of several asks of one turn', () => {
  test('a denied edit takes no other along: each is what was answered to it', bounded, async () => {
    const { answer } = await asked('a.txt', 'b.txt')
    const denied = answer('a.txt', 'Not this one.')
    expect(await answer('b.txt')).toMatchObject({ ok: true })
    expect(await bench.next('tool-ended')).toMatchObject({ tool: 'write', outcome: 'done' })
    expect(await answer('echo beside')).toMatchObject({ ok: true })
    expect(await denied).toMatchObject({ ok: true })
    expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'completed', text: 'Understood.' })
    expect(ends()).toEqual(['bash done', 'write done', 'write failed'])
    expect(bench.of('tool-ended').some(({ output }) => output.includes('Not this one.'))).toBe(true)
    const files = await readdir(bench.workspaceDir)
    expect([files.includes('a.txt'), files.includes('b.txt')]).toEqual([false, true])
    expect(bench.of('permission-replied')).toEqual([])
  })

  test('all may be denied: the turn goes on, and the model hears each reason', bounded, async () => {
    const { answer } = await asked('a.txt', 'b.txt')
    const denied = [answer('a.txt', 'Not a.'), answer('b.txt', 'Not b.'), answer('echo beside', 'Not that.')]
    expect(await Promise.all(denied)).toMatchObject([{ ok: true }, { ok: true }, { ok: true }])
    expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'completed', text: 'Understood.' })
    expect(ends()).toEqual(['bash failed', 'write failed', 'write failed'])
    const told = bench.of('tool-ended').map(({ output }) => output).join('\n')
    for (const reason of ['Not a.', 'Not b.', 'Not that.']) expect(told).toContain(reason)
    expect(bench.of('permission-replied')).toEqual([])
  })
})
