import { describe, expect, test } from 'vitest'
import { chatConversation, chatRequestSchema } from '../conversation.ts'
import { coderRequest, sampleRequirement, type Message } from '../demo.suite.ts'
import type { Reply } from '../reply.ts'
import { scriptedReply } from './model.ts'
import { solvedShipping } from './solution.ts'

const outputs: Readonly<Record<string, string>> = {
  read: '<content>\n1: const flatRate = 4_90\n</content>', question: 'User has answered your questions: "Which pays 4.90, 1.90?"="1.90: an order of exactly 50.00 € pays 1.90 €.". You can now continue.',
  write: 'Wrote file successfully.', 'bun test': ' 10 pass\n 0 fail\n 17 expect() calls', 'bun scripts/check-style.ts': '2 files checked, no rule broken',
}

function reply(messages: readonly Message[], more: object = {}): Reply {
  return scriptedReply(chatConversation(chatRequestSchema.parse(coderRequest(messages, more))))
}

/** Plays on until the model ends with text alone; `results` replaces a tool's or a command's output. */
function play(messages: Message[], results: Readonly<Record<string, string>> = {}, more: object = {}): { steps: string[]; inputs: unknown[]; text: string } {
  const steps: string[] = []
  const inputs: unknown[] = []
  for (let round = 0; round < 12; round++) {
    const next = reply(messages, more)
    const calls = next.calls.map((call, index) => ({ id: `call_${messages.length}_${index}`, type: 'function' as const, function: { name: call.tool, arguments: JSON.stringify(call.input) } }))
    messages.push({ role: 'assistant', content: next.text, ...(calls.length > 0 ? { tool_calls: calls } : {}) })
    if (calls.length === 0) return { steps, inputs, text: next.text }
    for (const [index, call] of next.calls.entries()) {
      const name = call.tool === 'bash' ? String(call.input['command']) : call.tool
      steps.push(name)
      inputs.push(call.input)
      messages.push({ role: 'tool', tool_call_id: calls[index]?.id ?? '', content: results[name] ?? outputs[name] ?? '' })
    }
  }
  throw new Error('the script does not end')
}

const task = (): Message[] => [{ role: 'user', content: `Goal: ${sampleRequirement}` }]
const scriptSteps = ['read', 'read', 'question', 'write', 'bun test', 'bun scripts/check-style.ts']

describe('the demo coder on the sample task', () => {
  test('reads, asks about exactly 50.00, writes the solution, tests, checks the style and sums up', () => {
    const { steps, inputs, text } = play(task())
    expect(steps).toEqual(scriptSteps)
    expect(inputs.slice(0, 2)).toEqual([{ filePath: '/workspace/src/shipping.ts' }, { filePath: '/workspace/test/shipping.test.ts' }])
    expect(inputs[2]).toMatchObject({ questions: [{ question: expect.stringContaining('exactly 50.00') as string, header: expect.any(String) as string, options: [{ label: '1.90' }, { label: '4.90' }] }] })
    expect(inputs[3]).toEqual({ filePath: '/workspace/src/shipping.ts', content: solvedShipping })
    expect(inputs[4]).toEqual({ command: 'bun test', description: expect.any(String) as string })
    expect(text).toContain('exactly 50.00 € pays 1.90 €')
    expect(text).toContain('`bun test`: 10 passed, 0 failed.')
  })

  test('writes what was answered, also when that is the other price', () => {
    const { inputs, text } = play(task(), { question: 'User has answered your questions: "4.90 or 1.90?"="4.90".' })
    expect((inputs[3] as { content: string }).content).toContain('{ from: 50_01, cost: 1_90 }')
    expect(text).toContain('exactly 50.00 € pays 4.90 €')
  })

  test('goes on when the answer comes as a new prompt after the question was dropped', () => {
    const messages = task()
    for (const tool of ['read', 'question']) {
      messages.push({ role: 'assistant', content: '', tool_calls: [{ id: tool, type: 'function', function: { name: tool, arguments: '{}' } }] }, { role: 'tool', tool_call_id: tool, content: tool === 'question' ? 'Tool execution aborted' : 'x' })
    }
    messages.push({ role: 'user', content: 'Answer: 1.90' })
    expect(play(messages).steps).toEqual(['write', 'bun test', 'bun scripts/check-style.ts'])
  })

  test('reports a command that was not allowed, and does not claim its outcome', () => {
    const { steps, text } = play(task(), { 'bun scripts/check-style.ts': 'The user rejected permission to use this specific tool call with the following feedback: no.' })
    expect(steps).toEqual(scriptSteps)
    expect(text).toContain('`bun scripts/check-style.ts` was not allowed to run')
  })

  test('stops when it may not write', () => {
    const { steps, text } = play(task(), { write: 'The user rejected permission to use this specific tool call.' })
    expect(steps).toEqual(['read', 'read', 'question', 'write'])
    expect(text).toContain('not allowed to write')
  })

  test('says so when tests fail', () => {
    expect(play(task(), { 'bun test': ' 8 pass\n 2 fail\n' }).text).toContain('8 passed, 2 failed')
  })

  test('mends its work in a follow-up turn', () => {
    const messages = task()
    play(messages)
    messages.push({ role: 'user', content: 'The verification failed: exit code 1.' })
    const { steps, inputs } = play(messages)
    expect(steps).toEqual(['read', 'read', 'write', 'bun test'])
    expect(inputs[2]).toEqual({ filePath: '/workspace/src/shipping.ts', content: solvedShipping })
  })

  test('does without the question tool, and says what it assumed', () => {
    const { steps, text } = play(task(), {}, { tools: ['read', 'write', 'bash'].map((name) => ({ type: 'function', function: { name } })) })
    expect(steps).not.toContain('question')
    expect(text).toContain('could not ask')
  })

  test('says that it cannot work without its tools, or in another project', () => {
    expect(play(task(), {}, { tools: [] })).toMatchObject({ steps: [], text: expect.stringContaining('changed nothing') as string })
    expect(play(task(), { read: 'File not found: /workspace/src/shipping.ts' }).text).toContain('not in this folder')
  })

  test('says honestly that another task is beyond it', () => {
    expect(play([{ role: 'user', content: 'Add a dark mode to the settings page.' }])).toMatchObject({ steps: [], text: expect.stringContaining('demo model') as string })
  })
})
