import { describe, expect, test } from 'vitest'
import { taskIdSchema } from '../../src-preload/contract/ids.ts'
import { goldens } from './dialects.suite.ts'
import type { Golden } from './golden.suite.ts'
import { ReplyReader } from './reply-reader.ts'
import { Tap, type Preview } from './tap.ts'
import type { Time } from './time.ts'

/** Time that stands still: nothing but urgent previews is ever sent before the end. */
const still: Time = { now: () => 1_000, steady: () => 0, after: () => () => undefined }

function readAll(golden: Golden, chunks: readonly Uint8Array[], status = 200): { reader: ReplyReader; previews: Preview[]; broken: unknown[] } {
  const previews: Preview[] = []
  const broken: unknown[] = []
  const tap = new Tap({ api: golden.api, taskId: taskIdSchema.parse('task_1'), sessionId: null, time: still, emit: (preview) => { previews.push(preview) }, onBroken: (error) => broken.push(error) })
  const reader = new ReplyReader({ api: golden.api, status, contentType: 'text/event-stream', opaque: false, tap: () => tap, onEvent: () => undefined, onBroken: (error) => broken.push(error) })
  for (const bytes of chunks) reader.take(bytes)
  reader.finish()
  return { reader, previews, broken }
}

/** What was read, in a form that compares fast: there are thousands of cuts. */
function told({ reader, previews, broken }: ReturnType<typeof readAll>): string {
  const finals = previews.filter((preview) => preview.state !== 'growing').map(({ callId, tool, state, argumentBytes, target, tail }) => ({ callId, tool, state, argumentBytes, target, tail })).sort((a, b) => (a.callId < b.callId ? -1 : 1))
  return JSON.stringify({ broken: broken.length, terminal: reader.terminal, tail: reader.tail({ code: 'x', message: 'x' }), metered: reader.meter.metered, ids: [...new Set(previews.map((preview) => preview.callId))].sort(), finals })
}

function expected(golden: Golden): string {
  const calls = [...golden.calls].sort((a, b) => (a.callId < b.callId ? -1 : 1))
  const finals = calls.map(({ callId, tool, json }) => {
    const input = JSON.parse(json) as { filePath?: string; content?: string; command?: string }
    return { callId, tool, state: 'complete', argumentBytes: Buffer.byteLength(json), target: input.filePath ?? input.command, tail: input.content ?? input.command }
  })
  return JSON.stringify({ broken: 0, terminal: 'finished', tail: '', metered: { modelAnswered: golden.model, ...golden.usage }, ids: calls.map((call) => call.callId), finals })
}

/** What is wrong with how a broken-off stream was settled; null if nothing is. */
function unsettled({ reader, previews }: ReturnType<typeof readAll>): string | null {
  const finals = previews.filter((preview) => preview.state !== 'growing').map((preview) => preview.callId)
  const ids = new Set(previews.map((preview) => preview.callId))
  if (finals.length !== ids.size || new Set(finals).size !== ids.size) return `rows ${[...ids].join()} have the ends ${finals.join()}`
  const tail = reader.tail({ code: 'upstream_stream_incomplete', message: 'gone' })
  if (reader.terminal === null && reader.meter.metered.outputTokens !== null) return 'a count on the way was taken for what it used'
  if (reader.terminal === null) return tail.includes('upstream_stream_incomplete') ? null : 'no error was appended'
  return tail.trim() === '' ? null : 'an error was appended behind a terminal frame'
}

describe.each(goldens)('reading a copy of $name', (golden) => {
  const bytes = Buffer.from(golden.text)
  const places = Array.from({ length: bytes.length + 1 }, (_unused, at) => at)

  test('tells the same wherever the bytes are cut in two', () => {
    const wanted = expected(golden)
    expect(places.filter((at) => told(readAll(golden, [bytes.subarray(0, at), bytes.subarray(at)])) !== wanted)).toEqual([])
  })

  test('tells the same when every byte comes alone', () => {
    expect(told(readAll(golden, [...bytes].map((byte) => Uint8Array.of(byte))))).toBe(expected(golden))
  })

  test('settles every row, appends an error and takes no count on the way for the last, wherever the stream breaks off', () => {
    expect(places.map((at) => unsettled(readAll(golden, [bytes.subarray(0, at)]))).filter((fault) => fault !== null)).toEqual([])
  })
})

describe('the tail of a stream', () => {
  const tailOf = (api: 'chat' | 'responses', text: string): string =>
    readAll({ name: '', api, text, calls: [], usage: { inputTokens: null, outputTokens: null }, model: null }, [Buffer.from(text)]).reader.tail({ code: 'gone', message: 'It broke off.' })

  test.each([['data: {"cho', '":null}\n\n'], ['data: {"choices":[{"index":0,"delta":{"content":"a\\', '\\"}}]}\n\n'], ['data: {"choices":[]}', '\n\n'], ['data: {"choices":[]}\r\n', '\n\n'], ['data: [DO', 'NE]\n\n'], ['dat', 'x\n\n'], ['data:', '{"choices":[]}\n\n'], ['event: mess', '\n\n'], [': keep-al', '\n\n'], [': alive\n', '\n\n'], ['', '']])('ends the event within which the stream broke off: %j', (broken, closing) => {
    expect(tailOf('chat', `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n${broken}`)).toBe(`${closing}data: {"error":{"message":"It broke off.","type":"api_error","code":"gone","param":null}}\n\n`)
  })

  test.each(goldens)('leaves a client only JSON to read, wherever $name breaks off', (golden) => {
    const bytes = Buffer.from(golden.text)
    const unreadable = (at: number): boolean => {
      const cut = bytes.subarray(0, at)
      const whole = Buffer.concat([cut, Buffer.from(readAll(golden, [cut]).reader.tail({ code: 'gone', message: 'It broke off.' }))]).toString()
      // What stands behind the last blank line is no event.
      const datas = whole.split(/\r\n\r\n|\n\n/).slice(0, -1).flatMap((frame) => /(?:^|\n)data: ?([^\r\n]*)/.exec(frame)?.[1] ?? [])
      return !datas.every((data) => data === '[DONE]' || isJson(data))
    }
    expect(Array.from({ length: bytes.length + 1 }, (_unused, at) => at).filter(unreadable)).toEqual([])
  })

  test('is an error frame behind [DONE] without a finish reason', () => {
    expect(tailOf('chat', 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n')).toBe('data: {"error":{"message":"It broke off.","type":"api_error","code":"gone","param":null}}\n\n')
  })

  test('is a failed response, which runs no tool again, for the responses API', () => {
    const tail = tailOf('responses', 'data: {"type":"response.created","response":{}}\n\n')
    expect(tail).toMatch(/^event: response\.failed\ndata: \{"type":"response\.failed".*"error":\{"code":"gone","message":"It broke off\."\}\}\}\n\nevent: error\ndata: \{"type":"error".*"code":"gone".*\n\n$/)
  })

  test('is the completed response again, with a usage, where the vendor gave none', () => {
    const tail = tailOf('responses', 'data: {"type":"response.completed","response":{"id":"r9","model":"m","output":[{"type":"message"}]}}\n\n')
    expect(JSON.parse(tail.split('data: ')[1] ?? '')).toMatchObject({ type: 'response.completed', response: { id: 'r9', output: [], usage: { input_tokens: 0, output_tokens: 0 }, metadata: { usage: 'unknown' } } })
  })

  test('is the missing blank line behind a terminal frame', () => {
    expect(tailOf('chat', 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}')).toBe('\n\n')
  })

  test('is nothing behind the vendor’s own error', () => {
    expect(tailOf('chat', 'data: {"error":{"message":"overloaded"}}\n\n')).toBe('')
    expect(tailOf('responses', 'data: {"type":"error","message":"x"}\n\n')).toBe('')
  })
})

describe('the tap', () => {
  const chat = goldens[0]!

  test('sends the first sight, the target and the end at once, and holds the rest back', () => {
    const { previews } = readAll(chat, [Buffer.from(chat.text)])
    const ofWrite = previews.filter((preview) => preview.callId === 'call_w')
    expect(ofWrite.map((preview) => [preview.state, preview.target])).toEqual([['growing', null], ['growing', '/workspace/größe.ts'], ['complete', '/workspace/größe.ts']])
  })

  test('sends what it held back after its pause, once', () => {
    let now = 0
    let fire: (() => void) | null = null
    const previews: Preview[] = []
    const tap = new Tap({
      api: 'chat', taskId: taskIdSchema.parse('task_1'), sessionId: 'ses_1', emit: (preview) => { previews.push(preview) }, onBroken: (error) => { throw error },
      time: { now: () => now, steady: () => now, after: (_ms, run) => { fire = run; return () => { fire = null } } },
    })
    const grow = (text: string): void => tap.read({ choices: [{ delta: { tool_calls: [{ index: 0, id: 'call_1', function: { name: 'write', arguments: text } }] } }] })
    grow('{"filePath":"a",')
    for (const text of ['"content":', '"x', 'y', 'z']) { now += 1; grow(text) }
    expect(previews.map((preview) => preview.argumentBytes)).toEqual([16])
    now = 8
    ;(fire as (() => void) | null)?.()
    expect(previews.map((preview) => [preview.argumentBytes, preview.tail])).toEqual([[16, ''], [30, 'xyz']])
    now = 20
    grow('!')
    expect(previews.at(-1)).toMatchObject({ tail: 'xyz!', sessionId: 'ses_1', seenAt: 20 })
  })

  test('when it breaks, loses the previews only', () => {
    const broken: unknown[] = []
    const tap = new Tap({ api: 'chat', taskId: taskIdSchema.parse('task_1'), sessionId: null, time: still, emit: () => { throw new Error('full') }, onBroken: (error) => broken.push(error) })
    const reader = new ReplyReader({ api: 'chat', status: 200, contentType: 'text/event-stream', opaque: false, tap: () => tap, onEvent: () => undefined, onBroken: (error) => broken.push(error) })
    reader.take(Buffer.from(chat.text))
    reader.finish()
    expect(broken).toHaveLength(1)
    expect(reader.meter.metered).toMatchObject({ inputTokens: 11 })
    expect(reader.terminal).toBe('finished')
  })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
