import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { StreamPreviews, type CallPreview } from './stream-previews.ts'

type Api = 'chat' | 'responses'

/** Feeds events and returns each call's last preview, in the order in which the calls were first shown. */
function show(api: Api, events: readonly unknown[]): CallPreview[] {
  const { previews, changes } = follow(api, events)
  const keys = [...new Set(changes.map((change) => change.key))]
  return keys.map((key) => previews.preview(key)).filter((preview) => preview !== null)
}

function follow(api: Api, events: readonly unknown[]): { previews: StreamPreviews; changes: { key: string; urgent: boolean; state: string | undefined }[] } {
  const previews = new StreamPreviews(api)
  const changes = events.flatMap((event) => previews.accept(event).map((change) => ({ ...change, state: previews.preview(change.key)?.state })))
  return { previews, changes }
}

function piece(index: number | undefined, fields: { id?: string | null; name?: string; text?: string }): unknown {
  const about = { ...(fields.name === undefined ? {} : { name: fields.name }), ...(fields.text === undefined ? {} : { arguments: fields.text }) }
  return { choices: [{ index: 0, delta: { tool_calls: [{ ...(index === undefined ? {} : { index }), ...('id' in fields ? { id: fields.id } : {}), function: about }] }, finish_reason: null }] }
}
const finished = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }

describe('previews of a chat stream', () => {
  test('follow a call whose id and name come in the first piece only', () => {
    expect(show('chat', [piece(0, { id: 'a', name: 'write', text: '' }), piece(0, { text: '{"filePath":"x",' }), piece(0, { text: '"content":"1' })])).toEqual([
      { callId: 'a', tool: 'write', argumentBytes: 28, target: 'x', tail: '1', tailOf: 'content', contentLines: 1, before: null, fields: [], idUsedTwice: false, state: 'growing' },
    ])
  })

  test('are held back until the vendor names the call, and then hold all that came before', () => {
    const previews = new StreamPreviews('chat')
    expect(previews.accept(piece(0, { name: 'write', text: '{"filePath":"x",' }))).toEqual([])
    expect(previews.accept(piece(0, { id: null, text: '"content":"1' }))).toEqual([])
    const changed = previews.accept(piece(0, { id: 'late' }))
    expect(changed).toMatchObject([{ urgent: true }])
    expect(previews.preview(changed[0]?.key ?? '')).toMatchObject({ callId: 'late', target: 'x', tail: '1' })
  })

  test('are never shown for a call without an id', () => {
    const { previews, changes } = follow('chat', [piece(0, { name: 'write', text: '{"a":1}' }), finished])
    expect(changes).toEqual([])
    expect(previews.interrupt()).toEqual([])
  })

  test('tell calls apart that share an index, by their ids', () => {
    const events = [piece(0, { id: 'a', name: 'read', text: '{"filePath":"1' }), piece(0, { id: 'b', name: 'read', text: '{"filePath":"2"}' }), finished]
    expect(show('chat', events)).toMatchObject([{ callId: 'a', state: 'complete', target: null }, { callId: 'b', state: 'complete', target: '2' }])
  })

  test('follow calls without an index, by id, else as the last one', () => {
    const events = [piece(undefined, { id: 'a', name: 'read', text: '{"filePath":' }), piece(undefined, { text: '"1"}' }), piece(undefined, { id: 'b', name: 'bash', text: '{"command":"c"}' })]
    expect(show('chat', events)).toMatchObject([{ callId: 'a', target: '1' }, { callId: 'b', target: 'c' }])
  })

  test('mark both calls of a reply that have one id, in sequence or interleaved', () => {
    for (const events of [
      [piece(0, { id: 'a', name: 'bash', text: '{"command":"1"}' }), piece(1, { id: 'a', name: 'bash', text: '{"command":"2' })],
      [piece(0, { id: 'a', name: 'bash', text: '{"command":"1' }), piece(1, { id: 'a', name: 'bash', text: '{"command":"2' }), piece(0, { text: '1' })],
    ]) expect(show('chat', events)).toMatchObject([{ callId: 'a', idUsedTwice: true }, { callId: 'a', idUsedTwice: true }])
    expect(show('chat', [piece(0, { id: 'a', name: 'bash' }), piece(1, { id: 'b', name: 'bash' })])).toMatchObject([{ idUsedTwice: false }, { idUsedTwice: false }])
  })

  test('stay with the first id of a call whose vendor changes it under way', () => {
    const events = [piece(0, { id: 'a', name: 'write', text: '{"filePath":"x",' }), piece(0, { id: 'b', text: '"content":"1"}' })]
    expect(show('chat', events)).toMatchObject([{ callId: 'a', target: 'x' }, { callId: 'b' }])
  })

  test('keep the choices apart', () => {
    const of = (choice: number, id: string): unknown => ({ choices: [{ index: choice, delta: { tool_calls: [{ index: 0, id, function: { name: 't', arguments: `{"command":"${id}"` } }] } }] })
    expect(show('chat', [of(0, 'a'), of(1, 'b')])).toMatchObject([{ callId: 'a', target: 'a' }, { callId: 'b', target: 'b' }])
  })

  test('are urgent at first sight, at the target and at the end, and only then', () => {
    const texts = ['{"file', 'Path":"', 'x"', ',"content":"a', 'b', '"}', ' ']
    const { changes } = follow('chat', [piece(0, { id: 'a', name: 'write', text: '' }), ...texts.map((text) => piece(0, { text })), finished])
    expect(changes.map((change) => change.urgent)).toEqual([true, false, false, true, false, false, true])
    expect(changes.map((change) => change.state).filter((state) => state === 'complete')).toHaveLength(1)
  })

  test('end once: with its own last brace, not again with the stream', () => {
    const { previews, changes } = follow('chat', [piece(0, { id: 'a', name: 'bash', text: '{"command":"x"}' }), finished, piece(0, { text: 'more' }), finished])
    expect(changes).toHaveLength(1)
    expect(previews.interrupt()).toEqual([])
  })

  test('settle as interrupted when the stream is over too early', () => {
    const { previews } = follow('chat', [piece(0, { id: 'a', name: 'write', text: '{"filePath":"x"' })])
    const [changed] = previews.interrupt()
    expect(changed?.urgent).toBe(true)
    expect(previews.preview(changed?.key ?? '')).toMatchObject({ state: 'interrupted', target: 'x' })
    expect(previews.accept(piece(0, { text: ',"content":"late"}' }))).toEqual([])
  })

  test('take a call without arguments and arguments that are no JSON', () => {
    expect(show('chat', [piece(0, { id: 'a', name: 'list' }), piece(1, { id: 'b', name: 'odd', text: 'cat file' }), finished])).toMatchObject([
      { callId: 'a', argumentBytes: 0, state: 'complete' }, { callId: 'b', argumentBytes: 8, target: null, state: 'complete' },
    ])
  })

  test('show at most 128 calls of one stream', () => {
    expect(show('chat', Array.from({ length: 500 }, (_unused, index) => piece(index, { id: `c${index}`, name: 't' })))).toHaveLength(128)
  })
})

describe('previews of a responses stream', () => {
  const added = (index: number, callId: string, text = ''): unknown => ({ type: 'response.output_item.added', output_index: index, item: { type: 'function_call', id: `fc${index}`, call_id: callId, name: 'write', arguments: text } })
  const delta = (about: object, text: string): unknown => ({ type: 'response.function_call_arguments.delta', ...about, delta: text })

  test('carry the call id, not the item’s', () => {
    expect(show('responses', [added(1, 'call_1'), delta({ item_id: 'fc1', output_index: 1 }, '{"filePath":"x"')])).toMatchObject([{ callId: 'call_1', tool: 'write', target: 'x', state: 'growing' }])
  })

  test('follow interleaved calls by index, or by item where a gateway leaves the index out', () => {
    const events = [added(0, 'a'), added(1, 'b'), delta({ output_index: 0 }, '{"filePath":"1"'), delta({ item_id: 'fc1' }, '{"filePath":"2"'), delta({ item_id: 'fc0' }, ',"content":"x'), delta({ output_index: 1 }, ',"content":"y')]
    expect(show('responses', events)).toMatchObject([{ callId: 'a', target: '1', tail: 'x' }, { callId: 'b', target: '2', tail: 'y' }])
  })

  test('take whole arguments once, and only where no piece has come', () => {
    const done = { type: 'response.function_call_arguments.done', item_id: 'fc0', output_index: 0, arguments: '{"filePath":"x"}' }
    const itemDone = { type: 'response.output_item.done', output_index: 0, item: { type: 'function_call', id: 'fc0', call_id: 'a', name: 'write', arguments: '{"filePath":"x"}' } }
    for (const events of [[added(0, 'a'), done, itemDone], [added(0, 'a'), delta({ output_index: 0 }, '{"filePath":"x"}'), done, itemDone], [itemDone]]) {
      const { changes } = follow('responses', events)
      expect(show('responses', events)).toMatchObject([{ callId: 'a', argumentBytes: 16, target: 'x', state: 'complete' }])
      expect(changes.filter((change) => change.state === 'complete')).toHaveLength(1)
    }
  })

  test('leave messages and other items alone', () => {
    expect(show('responses', [{ type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm' } }, { type: 'response.output_text.delta', output_index: 0, delta: 'x' }])).toEqual([])
  })
})

describe('previews of nonsense', () => {
  test.each<Api>(['chat', 'responses'])('never throw (%s)', (api) => {
    const key = fc.constantFrom('choices', 'delta', 'tool_calls', 'index', 'id', 'function', 'name', 'arguments', 'finish_reason', 'type', 'item', 'item_id', 'output_index', 'call_id')
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.boolean(), fc.constantFrom('function_call', 'response.output_item.added', 'response.output_item.done', 'response.function_call_arguments.delta', 'response.function_call_arguments.done'))
    const { any } = fc.letrec<{ any: unknown }>((tie) => ({ any: fc.oneof({ maxDepth: 6 }, leaf, fc.array(tie('any'), { maxLength: 3 }), fc.dictionary(key, tie('any'), { maxKeys: 5 })) }))
    fc.assert(fc.property(fc.array(any, { maxLength: 6 }), (events) => {
      for (const preview of show(api, events)) expect(preview.callId.length).toBeGreaterThan(0)
    }))
  })
})
