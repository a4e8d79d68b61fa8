import { describe, expect, it } from 'vitest'
import { compareLeft, type FileBase } from './edit-call.ts'

const [a, b] = ['/workspace/a.ts', '/workspace/b.ts']
const file = (text: string | null, path = a): FileBase => ({ path, text })
const patch = (...lines: readonly string[]): unknown => ({ patchText: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') })
const left = (tool: string, input: unknown, bases: readonly FileBase[], now: readonly FileBase[]): string | null => compareLeft({ tool, input, bases }, now)

const write = { filePath: a, content: 'new\n' }
const [remove, move] = [patch(`*** Delete File: ${a}`), patch(`*** Update File: ${a}`, `*** Move to: ${b}`, '@@', '-old', '+new')]
const changed = patch(`*** Update File: ${a}`, '@@', '-old', '+new')
const wrong = (path = a): string => `${path} does not hold what was approved`
const there = `${a} is still there`
const same = `${a} is as it was`

describe('what a done edit left', () => {
  it.each<[string, string, unknown, readonly FileBase[], readonly FileBase[], string | null]>([
    ['a file holds what was written', 'write', write, [file('old')], [file('new\n')], null],
    ['a new file holds what was written', 'write', write, [file(null)], [file('new\n')], null],
    ['a mark and line ends that OpenCode keeps are no difference', 'write', write, [file('\uFEFFold\r\n')], [file('\uFEFFnew\r\n')], null],
    ['approved text with other line ends is no difference', 'write', { filePath: a, content: 'new\r\n' }, [file('old')], [file('new\n')], null],
    ['a file holds something else', 'write', write, [file('old')], [file('new')], wrong()],
    ['a file was never written', 'write', write, [file(null)], [file(null)], wrong()],
    ['a file cannot be read', 'write', write, [file('old')], [], wrong()],
    ['only another file holds it', 'write', write, [file('old'), file('old', b)], [file('old'), file('new\n', b)], wrong()],
    ['an empty file was written empty', 'write', { filePath: a, content: '' }, [file('old')], [file('')], null],
    ['an empty file is missing', 'write', { filePath: a, content: '' }, [file('old')], [file(null)], wrong()],
    ['a text was replaced', 'edit', { filePath: a, oldString: 'old', newString: 'new' }, [file('an old one')], [file('an new one')], null],
    ['a text was not replaced', 'edit', { filePath: a, oldString: 'old', newString: 'new' }, [file('an old one')], [file('an old one')], wrong()],
    ['a file was deleted', 'apply_patch', remove, [file('old')], [file(null)], null],
    ['a file that was to be deleted is there, as it was', 'apply_patch', remove, [file('old')], [file('old')], there],
    ['a file that was to be deleted is there, and empty', 'apply_patch', remove, [file('old')], [file('')], there],
    ['of a file that was to be deleted nothing can be told', 'apply_patch', remove, [file('old')], [], there],
    ['a file was changed in its place', 'apply_patch', changed, [file('old\n')], [file('new\n')], null],
    ['a file was changed to something else', 'apply_patch', changed, [file('old\n')], [file('evil\n')], wrong()],
    ['a file was moved', 'apply_patch', move, [file('old\n'), file(null, b)], [file(null), file('new\n', b)], null],
    ['a file was moved and is also where it was', 'apply_patch', move, [file('old\n'), file(null, b)], [file('old\n'), file('new\n', b)], there],
    ['a file is gone and nowhere else', 'apply_patch', move, [file('old\n'), file(null, b)], [file(null), file(null, b)], wrong(b)],
    ['a file was moved and holds something else', 'apply_patch', move, [file('old\n'), file(null, b)], [file(null), file('old\n', b)], wrong(b)],
    ['the second of two files holds something else', 'apply_patch', patch(`*** Delete File: ${a}`, `*** Add File: ${b}`, '+new'), [file('old'), file(null, b)], [file(null), file('evil', b)], wrong(b)],
  ])('is compared with what the call does to its files: %s', (_what, tool, input, bases, now, said) => {
    expect(left(tool, input, bases, now)).toBe(said)
  })

  const unclear = { filePath: a, oldString: 'o', newString: 'n' }
  it.each<[string, string, unknown, readonly FileBase[], readonly FileBase[], string | null]>([
    ['a text that stands twice, and nothing happened', 'edit', unclear, [file('o o')], [file('o o')], same],
    ['a text that stands twice, and something happened', 'edit', unclear, [file('o o')], [file('n o')], null],
    ['a text of a file that is not there, and still is not', 'edit', unclear, [file(null)], [file(null)], same],
    ['a text of a file that is not there, and now is', 'edit', unclear, [file(null)], [file('n')], null],
    ['a file of which nothing was known', 'edit', unclear, [], [file('n')], null],
    ['a file of which nothing is known, before or after', 'edit', unclear, [], [], null],
    ['a file that one call changes twice, and nothing happened', 'apply_patch', patch(`*** Update File: ${a}`, '@@', '-old', '+x', `*** Update File: ${a}`, '@@', '-x', '+new'), [file('old\n')], [file('old\n')], same],
    ['a file that one call changes twice, and something happened', 'apply_patch', patch(`*** Update File: ${a}`, '@@', '-old', '+x', `*** Update File: ${a}`, '@@', '-x', '+new'), [file('old\n')], [file('new\n')], null],
    ['a file that one call moves onto itself', 'apply_patch', patch(`*** Update File: ${a}`, `*** Move to: ${a}`, '@@', '-old', '+new'), [file('old\n')], [file('old\n')], same],
    ['the first of two files', 'apply_patch', patch(`*** Update File: ${a}`, '@@', '-not there', '+new', `*** Add File: ${b}`, '+new'), [file('old\n'), file(null, b)], [file('other\n'), file('evil', b)], wrong(b)],
  ])('must at least not be as it was where that cannot be worked out: %s', (_what, tool, input, bases, now, said) => {
    expect(left(tool, input, bases, now)).toBe(said)
  })

  it.each<[string, unknown]>([['bash', { command: 'true' }], ['write', null], ['write', { filePath: a }], ['apply_patch', { patchText: 'words' }]])('is nothing to compare where a call names no file: %s %j', (tool, input) => {
    expect(left(tool, input, [file('x')], [file('x')])).toBeNull()
  })

  it('is compared by the room\'s names where the call has the workspace elsewhere', () => {
    const call = { tool: 'apply_patch', input: patch('*** Update File: a.ts', '*** Move to: /w/b.ts', '@@', '-old', '+new'), bases: [file('old\n'), file(null, b)], workspace: '/w' }
    expect(compareLeft(call, [file(null), file('new\n', './b.ts')])).toBeNull()
    expect(compareLeft(call, [file(null), file('evil\n', b)])).toBe(wrong(b))
  })
})
