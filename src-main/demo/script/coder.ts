import type { Conversation } from '../conversation.ts'
import { say, type Reply } from '../reply.ts'
import { currentRound, userText, wasRefused, type Done, type Round } from './history.ts'
import { solvedShipping, solvedShippingPath } from './solution.ts'

const testCommand = 'bun test'
const styleCommand = 'bun scripts/check-style.ts'
const question = 'The requirement says that orders between 20 and 50 euros pay 4.90 and orders between 50 and 100 euros pay 1.90. Which of the two pays an order of exactly 50.00 €?'

/** The next step of the coder on the sample task; on any other task an honest word that this model cannot do it. */
export function coderReply(conversation: Conversation): Reply {
  if (!/shipping/i.test(userText(conversation))) {
    return say('I am the demo model. I play one script, the sample task about shipping costs, and this is another task: I have changed nothing. Choose a real model for this bot (Settings, Providers) and start the task again.')
  }
  const missing = ['read', 'write', 'bash'].filter((tool) => !conversation.tools.has(tool))
  if (missing.length > 0) return say(`I cannot work on this: the tools ${missing.join(', ')} are not offered to me. I have changed nothing.`)
  const round = currentRound(conversation)
  const at = (path: string): string => `${workingFolder(conversation.system)}/${path}`
  return readStep(round, at) ?? (round.first ? questionStep(round, conversation) : null) ?? writeStep(round, at) ?? testStep(round) ?? (round.first ? styleStep(round) : null) ?? say(summary(round, conversation))
}

function readStep(round: Round, at: (path: string) => string): Reply | null {
  if (round.done.some((call) => call.tool === 'read')) return null
  return {
    text: round.first ? 'I start with the code and its tests.' : 'I look at the code again with that in mind.',
    calls: [{ tool: 'read', input: { filePath: at(solvedShippingPath) } }, { tool: 'read', input: { filePath: at('test/shipping.test.ts') } }],
  }
}

function questionStep(round: Round, conversation: Conversation): Reply | null {
  if (!conversation.tools.has('question') || round.done.some((call) => call.tool === 'question')) return null
  return {
    text: 'One boundary is open: both ranges name 50 euros.',
    calls: [{
      tool: 'question',
      input: { questions: [{ question, header: 'Exactly 50.00 €', options: [{ label: '1.90', description: 'Whoever reaches the threshold gets the better price' }, { label: '4.90', description: 'The better price starts above 50.00 €' }] }] },
    }],
  }
}

function writeStep(round: Round, at: (path: string) => string): Reply | null {
  if (round.done.some((call) => call.tool === 'write')) return null
  const text = round.first ? `I write the price list so that an order of exactly 50.00 € pays ${priceAtFifty(round)}.` : 'I write the file again, following the criteria to the letter.'
  const missingFile = round.done.some((call) => call.tool === 'read' && /^\W*(?:error: )?(?:file not found|no such file)/i.test(call.result ?? ''))
  if (missingFile) return say('The demo model knows the sample project only, and src/shipping.ts is not in this folder. I have changed nothing.')
  return { text, calls: [{ tool: 'write', input: { filePath: at(solvedShippingPath), content: solution(round) } }] }
}

function testStep(round: Round): Reply | null {
  const write = round.done.find((call) => call.tool === 'write')
  if (write !== undefined && wasRefused(write.result)) return say('I was not allowed to write src/shipping.ts, so nothing has changed and nothing was tested.')
  return bashStep(round, testCommand, 'Run the tests', 'Now the tests.')
}

function styleStep(round: Round): Reply | null {
  return bashStep(round, styleCommand, 'Check the house rules of the README', 'And the style check that the README asks for.')
}

function bashStep(round: Round, command: string, description: string, text: string): Reply | null {
  return runOf(round, command) === undefined ? { text, calls: [{ tool: 'bash', input: { command, description } }] } : null
}

function runOf(round: Round, command: string): Done | undefined {
  return round.done.find((call) => call.tool === 'bash' && call.input?.['command'] === command)
}

/** The answer to the question: the tool's result, or what the user wrote after it when the question itself was dropped. */
function answerText(round: Round): string | null {
  const asked = round.done.find((call) => call.tool === 'question')
  if (asked === undefined) return null
  const place = round.items.findIndex((item) => item.is === 'assistant' && item.calls.some((call) => call.id === asked.id))
  const later = round.items.slice(place + 1).findLast((item) => item.is === 'user')
  return later?.is === 'user' ? later.text : asked.result
}

function priceAtFifty(round: Round): '1.90' | '4.90' {
  // The question is repeated in front of the answer in the tool's result; only what stands behind counts.
  const answer = (answerText(round) ?? '').split('"="').at(-1) ?? ''
  return /4[.,]90/.test(answer) && !/1[.,]90/.test(answer) ? '4.90' : '1.90'
}

function solution(round: Round): string {
  if (priceAtFifty(round) === '1.90') return solvedShipping
  return solvedShipping
    .replace('{ from: 50_00, cost: 1_90 }', '{ from: 50_01, cost: 1_90 }')
    .replace('a customer who reaches a threshold gets the better price, so an\n * order of exactly 50.00 € already ships for 1.90 €.', 'by the owner’s answer an order of exactly 50.00 € still\n * pays 4.90 €, so that step begins one cent later.')
}

function summary(round: Round, conversation: Conversation): string {
  const lines = [round.first ? 'src/shipping.ts now takes the price from a list of steps: 6.90 € below 20, 4.90 € from 20, 1.90 € from 50, free from 100 euros on.' : 'src/shipping.ts is written again.']
  if (round.first && conversation.tools.has('question')) lines.push(`An order of exactly 50.00 € pays ${priceAtFifty(round)} €, as answered.`)
  if (round.first && !conversation.tools.has('question')) lines.push('I could not ask about exactly 50.00 €; I took the better price, as the criteria say.')
  lines.push('The checkout line names what is missing to the next better price.', outcomeLine(testCommand, runOf(round, testCommand)))
  if (round.first) lines.push(outcomeLine(styleCommand, runOf(round, styleCommand)))
  return lines.join('\n')
}

function outcomeLine(command: string, run: Done | undefined): string {
  if (run === undefined || wasRefused(run.result)) return `\`${command}\` was not allowed to run, so I cannot say what it would have told.`
  const output = run.result ?? ''
  const counted = /(\d+) pass[\s\S]*?(\d+) fail/.exec(output)
  if (counted !== null) return `\`${command}\`: ${counted[1]} passed, ${counted[2]} failed.`
  return `\`${command}\` ran; it ended with: ${output.trim().split('\n').at(-1)?.slice(0, 200) ?? 'no output'}`
}

/** Where the tools work, as OpenCode's system text says it. */
function workingFolder(system: string): string {
  return (/^\s*Working directory: (\/.*?)\/?\s*$/m.exec(system)?.[1] ?? '/workspace')
}
