import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { callIdSchema } from '../../../src-preload/contract/ids.ts'
import type { CoderSignal } from '../../engine/ports.ts'
import { interruptCalls, noteGap, takeSnapshot, translate, type Translated } from './translate.ts'
import { familyOf, newTranslation, openCalls, type Translation } from './translation.ts'
import { parseEvent, parsePart, type WireEvent, type WireStatus } from './wire.ts'

const versions = ['1.17.18', '1.18.30', '1.18.34'] as const
const scenarios = ['asks', 'badargs', 'badtool', 'bash', 'edit', 'multi', 'text', 'write10'] as const

interface Step { readonly revision: string; readonly event: WireEvent }

function capture(version: string, scenario: string): readonly Step[] {
  const lines = readFileSync(new URL(`captures/${version}/${scenario}.jsonl`, import.meta.url), 'utf8').trim().split('\n')
  return lines.map((line) => parseEvent(JSON.parse(line))).flatMap((parsed) => {
    if (parsed.is === 'malformed') throw new Error(`${parsed.type}: ${parsed.issue}`)
    return parsed.is === 'known' ? [{ revision: parsed.id ?? '', event: parsed.event }] : []
  })
}

function replay(steps: readonly Step[], state: Translation = newTranslation()): readonly Translated[] {
  return steps.flatMap(({ event, revision }) => translate(state, event, revision))
}

function signals(told: readonly Translated[]): readonly CoderSignal[] {
  return told.flatMap((item) => item.is === 'signal' ? [item.signal] : [])
}

/** One line a signal, without what differs from run to run: ids, time, and how a text was cut. */
function told(items: readonly Translated[]): readonly string[] {
  const ran = new Set<string>()
  return signals(items).flatMap((signal) => {
    switch (signal.is) {
      case 'text': return signal.done ? [`text ${JSON.stringify(signal.text)}`] : []
      case 'tool-pending': return [`pending ${signal.tool}`]
      case 'tool-running': return ran.size < ran.add(signal.callId).size ? [`running ${signal.tool} ${JSON.stringify(signal.input).slice(0, 60)}`] : []
      case 'tool-ended': return [`ended ${signal.tool} ${signal.outcome} ${String(signal.exitCode)} ${JSON.stringify(signal.output.slice(0, 44))}`]
      case 'permission-asked': return [`asked ${signal.permission} ${String(signal.command)} in ${String(signal.workdir)}`]
      case 'permission-replied': return [`replied ${signal.reply}`]
      case 'question-asked': return [`question ${signal.questions.map((item) => `${item.question} ${item.options.join('|')}`).join(';')}`]
      default: return [signal.is]
    }
  })
}

describe.each(versions)('the captures of OpenCode %s', (version) => {
  test.each(scenarios)('replay to the expected signals: %s', async (scenario) => {
    await expect(`${told(replay(capture(version, scenario))).join('\n')}\n`).toMatchFileSnapshot(`captures/${scenario}.golden.txt`)
  })

  test.each(scenarios)('tell nothing twice when each event comes twice: %s', (scenario) => {
    const steps = capture(version, scenario)
    // A repeated delta cannot be told from a new one; the stream's order is what protects it. Everything else is idempotent.
    const twice = steps.flatMap((step) => step.event.kind === 'delta' ? [step] : [step, step])
    const ids = (items: readonly Translated[]): string[] => signals(items).filter((signal) => signal.is !== 'permission-replied').map((signal) => signal.signalId)
    expect(ids(replay(twice))).toEqual(ids(replay(steps)))
  })

  test.each(scenarios)('end each call exactly once: %s', (scenario) => {
    const all = signals(replay(capture(version, scenario)))
    const ended = all.filter((signal) => signal.is === 'tool-ended').map((signal) => signal.signalId)
    expect(new Set(ended).size).toBe(ended.length)
    expect(ended.length).toBe(all.filter((signal) => signal.is === 'tool-pending').length)
  })

  test('grow a text by deltas to exactly what the whole says', () => {
    const texts = signals(replay(capture(version, 'text'))).filter((signal) => signal.is === 'text')
    const last = texts.at(-1)
    expect(last).toMatchObject({ done: true })
    for (const signal of texts) if (signal.partId === last?.partId) expect(last.text.startsWith(signal.text)).toBe(true)
    expect(texts.length).toBeGreaterThan(3)
  })
})

// ---------------------------------------------------------------- single events

const session = 'ses_1'
const assistant = { kind: 'message', info: { id: 'msg_2', sessionID: session, role: 'assistant', parentID: 'msg_1', time: { created: 1 } } } as const
function tool(state: unknown, more: Record<string, unknown> = {}): WireEvent {
  return { kind: 'part', part: parsePart({ id: 'prt_1', sessionID: session, messageID: 'msg_2', type: 'tool', tool: 'bash', callID: 'call_1', state, ...more }) }
}
function text(value: string, end?: number): WireEvent {
  return { kind: 'part', part: parsePart({ id: 'prt_9', sessionID: session, messageID: 'msg_2', type: 'text', text: value, time: { start: 1, ...(end === undefined ? {} : { end }) } }) }
}
function delta(value: string): WireEvent {
  return { kind: 'delta', sessionID: session, messageID: 'msg_2', partID: 'prt_9', field: 'text', delta: value }
}
const ask: WireEvent = { kind: 'permission-asked', ask: { id: 'per_1', sessionID: session, permission: 'bash', patterns: ['ls'], metadata: { command: 'ls' }, tool: { messageID: 'msg_2', callID: 'call_1' } } }
function run(...events: readonly WireEvent[]): { state: Translation; all: readonly Translated[] } {
  const state = newTranslation()
  return { state, all: events.flatMap((event, index) => translate(state, event, `evt_${index}`)) }
}

describe('an ask', () => {
  const pending = tool({ status: 'pending', input: {}, raw: '' })
  const running = tool({ status: 'running', input: { command: 'ls', workdir: '/workspace/src' } })

  test('that comes before its call runs is held until the call runs, and then knows text and directory', () => {
    expect(told(run(pending, ask).all)).toEqual(['pending bash'])
    expect(told(run(pending, ask, running).all)).toEqual(['pending bash', 'running bash {"command":"ls","workdir":"/workspace/src"}', 'asked bash ls in /workspace/src'])
    expect(told(run(pending, running, ask).all).at(-1)).toBe('asked bash ls in /workspace/src')
    expect(told(run(ask, pending, running).all).at(-1)).toBe('asked bash ls in /workspace/src')
  })

  test('resolves a relative directory as OpenCode does', () => {
    expect(told(run(ask, tool({ status: 'running', input: { command: 'ls', workdir: 'src/../lib/' } })).all).at(-1)).toBe('asked bash ls in /workspace/lib')
  })

  test('names folders and files as the room does, wherever the workspace is inside', () => {
    const askOf = (input: object, of: WireEvent, root = '/Users/o/ws'): CoderSignal | undefined => signals(replay([pending, of, tool({ status: 'running', input })].map((event, at) => ({ event, revision: String(at) })), newTranslation(root))).at(-1)
    for (const [workdir, named] of [['/Users/o/ws/src', '/workspace/src'], ['lib', '/workspace/lib'], ['/workspace', '/outside/workspace'], ['/Users/o', '/Users/o']] as const) expect(askOf({ command: 'ls', workdir }, ask)).toMatchObject({ workdir: named })
    const edit: WireEvent = { kind: 'permission-asked', ask: { id: 'per_2', sessionID: session, permission: 'edit', patterns: ['a.ts'], metadata: { filepath: '/Users/o/ws/a.ts', diff: '--- a' }, tool: { messageID: 'msg_2', callID: 'call_1' } } }
    expect(askOf({ filePath: '/Users/o/ws/a.ts' }, edit)).toMatchObject({ files: [{ path: '/workspace/a.ts' }], edit: { input: { filePath: '/Users/o/ws/a.ts' }, workspace: '/Users/o/ws' } })
  })

  test('for another command than the one that would run is refused and never shown', () => {
    const { all } = run(pending, ask, tool({ status: 'running', input: { command: 'ls; rm -rf .' } }))
    expect(told(all).filter((line) => line.startsWith('asked'))).toEqual([])
    expect(all).toContainEqual({ is: 'refuse', permissionId: 'per_1', sessionId: session, reason: expect.any(String) as string })
  })

  test('of a session that nothing was heard of is told all the same, and so is one of a subagent at any depth', () => {
    const far = (sessionID: string): readonly WireEvent[] => [
      { kind: 'part', part: parsePart({ id: `prt_${sessionID}`, sessionID, messageID: 'msg_far', type: 'tool', tool: 'bash', callID: 'call_far', state: { status: 'running', input: { command: 'ls' } } }) },
      { kind: 'permission-asked', ask: { id: `per_${sessionID}`, sessionID, permission: 'bash', patterns: ['ls'], metadata: { command: 'ls' }, tool: { messageID: 'msg_far', callID: 'call_far' } } },
    ]
    const born = (id: string, parentID: string): WireEvent => ({ kind: 'session', info: { id, parentID, title: 't', time: { created: 1, updated: 1 } } })
    expect(signals(run(...far('ses_unknown')).all).at(-1)).toMatchObject({ is: 'permission-asked', sessionId: 'ses_unknown', parentSessionId: null, permissionId: 'per_ses_unknown' })
    expect(signals(run(born('ses_a', session), born('ses_b', 'ses_a'), ...far('ses_b')).all).at(-1)).toMatchObject({ is: 'permission-asked', sessionId: 'ses_b', parentSessionId: 'ses_a', permissionId: 'per_ses_b' })
  })

  test('for a command without any call is refused', () => {
    expect(run({ kind: 'permission-asked', ask: { id: 'per_1', sessionID: session, permission: 'bash', patterns: [], metadata: { command: 'ls' } } }).all).toMatchObject([{ is: 'refuse' }])
  })

  test('of a call that ended is a ghost and not shown', () => {
    expect(told(run(pending, running, tool({ status: 'error', input: {}, error: 'Tool execution aborted' }), ask).all)).not.toContainEqual(expect.stringContaining('asked'))
    expect(run(pending, ask, tool({ status: 'error', input: {}, error: 'x' })).state.waitingAsks.size).toBe(0)
  })

  test('to edit carries the file and the diff', () => {
    const edit: WireEvent = { kind: 'permission-asked', ask: { id: 'per_2', sessionID: session, permission: 'edit', patterns: ['a.ts'], metadata: { filepath: '/workspace/a.ts', diff: '--- a' }, tool: { messageID: 'msg_2', callID: 'call_1' } } }
    const { all } = run(tool({ status: 'running', input: { filePath: '/workspace/a.ts' } }, { tool: 'write' }), edit)
    expect(signals(all).at(-1)).toMatchObject({ is: 'permission-asked', permission: 'edit', files: [{ path: '/workspace/a.ts', real: null }], diff: '--- a', command: null, edit: { tool: 'write', input: { filePath: '/workspace/a.ts' }, bases: [] } })
  })

  test('to edit several files carries where they are moved to, and of no call none', () => {
    const edit: WireEvent = { kind: 'permission-asked', ask: { id: 'per_2', sessionID: session, permission: 'edit', patterns: ['a.ts'], metadata: { filepath: 'a.ts', files: [{ filePath: '/workspace/a.ts', movePath: '/workspace/b.ts' }, { filePath: '/workspace/c.ts' }], diff: '--- a' } } }
    const [asked] = signals(run(edit).all)
    expect(asked).toMatchObject({ files: ['a', 'b', 'c'].map((name) => ({ path: `/workspace/${name}.ts`, real: null })) })
    expect(asked).not.toHaveProperty('edit')
  })
})

describe('a call', () => {
  test('that OpenCode renamed to “invalid” keeps the tool’s name and has failed', () => {
    const invalid = { tool: 'invalid' }
    const { all } = run(tool({ status: 'pending' }, { tool: 'nosuch' }), tool({ status: 'completed', input: { tool: 'nosuch', error: 'unavailable' }, output: 'unavailable' }, invalid))
    expect(told(all)).toEqual(['pending nosuch', 'ended nosuch failed null "unavailable"'])
    expect(told(run(tool({ status: 'completed', input: { tool: 'nosuch' }, output: 'x' }, invalid)).all)).toEqual(['ended nosuch failed null "x"'])
  })

  test('of a command tells its exit code; without one it was interrupted or failed', () => {
    const completed = (exit: unknown, output: string): readonly string[] => told(run(tool({ status: 'completed', input: {}, output, metadata: { exit } })).all)
    expect(completed(3, 'x')).toEqual(['ended bash done 3 "x"'])
    expect(completed(null, 'x\n<shell_metadata>\nUser aborted the command\n</shell_metadata>')[0]).toContain('interrupted')
    expect(completed(null, 'timed out')[0]).toContain('failed')
    expect(completed(0, 'User aborted the command')[0]).toContain('done 0')
  })

  test('goes on by its output, and tells the same output once', () => {
    const running = (output: string): WireEvent => tool({ status: 'running', input: {}, metadata: { output } })
    const { all } = run(running(''), running('a'), running('a'), running('ab'))
    expect(signals(all).map((signal) => signal.is === 'tool-running' ? signal.output : '?')).toEqual(['', 'a', 'ab'])
  })

  test('never goes back after it ended', () => {
    const { all } = run(tool({ status: 'completed', input: {}, output: 'x' }), tool({ status: 'running', input: {} }), tool({ status: 'pending' }), tool({ status: 'error', input: {}, error: 'late' }))
    expect(told(all)).toEqual(['ended bash done null "x"'])
  })

  test('that is open when its process is gone ends as interrupted, once, and a late end is dropped', () => {
    const { state } = run(tool({ status: 'running', input: { command: 'ls' } }))
    expect(told(interruptCalls(state, 'gone'))).toEqual(['ended bash interrupted null "gone"'])
    expect(interruptCalls(state, 'gone')).toEqual([])
    expect(translate(state, tool({ status: 'completed', input: {}, output: 'x' }), 'e')).toEqual([])
    expect(openCalls(state)).toEqual([])
  })

  test.each(['', 'x'.repeat(5_000), 'call_1'])('is told and told apart whatever id the vendor gave it: %#', (callID) => {
    const whole = { status: 'completed', input: {}, output: 'x' }
    const { all } = run(tool(whole), tool({ status: 'pending' }, { id: 'prt_2', callID }), tool(whole, { id: 'prt_2', callID }), tool(whole, { id: 'prt_3', callID }))
    const ids = signals(all).map((signal) => (signal.is === 'tool-pending' || signal.is === 'tool-ended' ? signal.callId : ''))
    expect(ids[0]).toBe('call_1')
    expect(ids[1], 'from its first to its last signal').toBe(ids[2])
    expect(new Set(ids).size, 'three calls').toBe(3)
    for (const id of ids) expect(callIdSchema.safeParse(id).success).toBe(true)
  })

  test('of a tool with an endless name is told, its name cut', () => {
    const { all } = run(tool({ status: 'error', input: {}, error: 'no such tool' }, { tool: 'T'.repeat(3_000) }))
    expect(signals(all)).toMatchObject([{ is: 'tool-ended', outcome: 'failed', tool: 'T'.repeat(200) }])
  })

  test('whose id was used before is asked for under its own id', () => {
    const second = { id: 'prt_2', messageID: 'msg_3' }
    const askAgain: WireEvent = { kind: 'permission-asked', ask: { id: 'per_2', sessionID: session, permission: 'bash', patterns: ['pwd'], metadata: { command: 'pwd' }, tool: { messageID: 'msg_3', callID: 'call_1' } } }
    const { all } = run(tool({ status: 'completed', input: { command: 'ls' }, output: 'x' }), tool({ status: 'pending' }, second), askAgain, tool({ status: 'running', input: { command: 'pwd' } }, second))
    const [, , running, asked] = signals(all)
    expect(asked).toMatchObject({ is: 'permission-asked', command: 'pwd', callId: running?.is === 'tool-running' ? running.callId : 'no call' })
  })

  test('holds at most 64 KiB of its output, the end of it', () => {
    const { all } = run(tool({ status: 'completed', input: {}, output: `${'x'.repeat(100_000)}END` }))
    const ended = signals(all)[0]
    if (ended?.is !== 'tool-ended') throw new Error('no end')
    expect(ended.output).toHaveLength(65_536)
    expect(ended.output.endsWith('END')).toBe(true)
  })
})

describe('a text', () => {
  test('of the user is not told, nor is one that OpenCode made up', () => {
    const user = { kind: 'message', info: { id: 'msg_2', sessionID: session, role: 'user', time: { created: 1 } } } as const
    expect(run(user, text('secret', 2)).all).toEqual([])
    const synthetic = { kind: 'part', part: parsePart({ id: 'prt_8', sessionID: session, messageID: 'msg_2', type: 'text', text: 'x', synthetic: true }) } as const
    expect(run(assistant, synthetic).all).toEqual([])
  })

  test('that comes before its message is held until the message says whose it is', () => {
    expect(run(text('hello', 2)).all).toEqual([])
    expect(told(run(text('hello', 2), assistant).all)).toEqual(['text "hello"'])
  })

  test('that missed a piece is not put together wrongly: it waits for the whole', () => {
    const { state } = run(assistant, text(''), delta('one '))
    noteGap(state)
    expect(translate(state, delta('three'), 'e')).toEqual([])
    expect(told(translate(state, text('one two three', 5), 'e'))).toEqual(['text "one two three"'])
  })

  test('that grows without end is told no further than its bound', () => {
    const { state } = run(assistant, text(''), delta('x'.repeat(1024 * 1024)))
    expect(translate(state, delta('more'), 'e')).toEqual([])
    const whole = signals(translate(state, text('y'.repeat(2_000_000), 5), 'e'))[0]
    expect(whole?.is === 'text' && whole.text.length).toBe(1024 * 1024)
  })

  test('first seen in history while it grows takes no deltas', () => {
    const state = newTranslation()
    const part = text('')
    if (part.kind !== 'part' || part.part?.type !== 'text') throw new Error('no text')
    takeSnapshot(state, assistant.info, [part.part])
    expect(translate(state, delta('rest'), 'e')).toEqual([])
  })
})

describe('a snapshot of history', () => {
  test('tells what was missed and not what was told', () => {
    const completed = { status: 'completed', input: {}, output: 'x', metadata: { exit: 0 } }
    const { state } = run(assistant, tool({ status: 'pending' }))
    const part = tool(completed)
    if (part.kind !== 'part' || part.part === null) throw new Error('no part')
    expect(told(takeSnapshot(state, assistant.info, [part.part]))).toEqual(['ended bash done 0 "x"'])
    expect(takeSnapshot(state, assistant.info, [part.part])).toEqual([])
    expect(translate(state, part, 'e')).toEqual([])
  })
})

describe('sessions', () => {
  test('that another started carry its id, and belong to its family at any depth', () => {
    const state = newTranslation()
    const create = (id: string, parentID?: string): void => { translate(state, { kind: 'session', info: { id, title: 't', time: { created: 1, updated: 1 }, ...(parentID === undefined ? {} : { parentID }) } }, 'e') }
    create('a'); create('c', 'b'); create('b', 'a'); create('other')
    expect([...familyOf(state, 'a')].toSorted()).toEqual(['a', 'b', 'c'])
    expect(signals(translate(state, { kind: 'status', sessionID: 'c', status: { type: 'busy' } }, 'e'))).toMatchObject([{ is: 'busy', parentSessionId: 'b' }])
  })

  test('tell busy and idle once each, and a retry with its reason', () => {
    const status = (value: WireStatus): WireEvent => ({ kind: 'status', sessionID: session, status: value })
    const { all } = run(status({ type: 'busy' }), status({ type: 'busy' }), status({ type: 'retry', attempt: 1, message: 'overloaded', next: 5 }), status({ type: 'retry', attempt: 1, message: 'overloaded', next: 5 }), status({ type: 'busy' }), status({ type: 'idle' }), status({ type: 'idle' }))
    expect(told(all)).toEqual(['busy', 'retrying', 'retrying', 'busy', 'idle'])
    expect(new Set(signals(all).map((signal) => signal.signalId)).size).toBe(4)
    expect(all.filter((item) => item.is === 'idle-seen')).toHaveLength(2)
  })
})
