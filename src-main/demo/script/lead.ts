import type { Conversation } from '../conversation.ts'
import { userText } from './history.ts'

/** What the lead answers: one JSON object of the shape that core/lead asks for. */
export function leadReply(purpose: 'brief' | 'answer' | 'review', conversation: Conversation): string {
  const text = userText(conversation)
  const reply = purpose === 'brief' ? brief(text) : purpose === 'answer' ? answer(text) : review(text)
  return JSON.stringify(reply, null, 2)
}

function brief(text: string): unknown {
  const requirement = part(text, /^Requirement:\n/m) ?? text.trim()
  const criteria = listItems(part(text, /^Criteria of the owner:\n/m) ?? '')
  const tree = fenced(text, 'file tree')?.split('\n') ?? []
  const sample = requirement.includes('src/shipping.ts')
  return {
    goal: sample
      ? 'Make shipping depend on the order value: under 20 euros 6.90, between 20 and 50 euros 4.90, between 50 and 100 euros 1.90, from 100 euros on free. Let the checkout line say how much is missing to the next better price, or that shipping is free.'
      : requirement.slice(0, 1_900),
    scope: sample ? 'Change src/shipping.ts only. Keep amounts in whole cents and the names of the exported functions. Ask where the requirement leaves something open.' : 'Only what the requirement asks for. Ask where it leaves something open.',
    criteria: criteria.slice(0, 20),
    testCommand: testCommandOf(text),
    excerptIds: sample ? ['src/shipping.ts', 'test/shipping.test.ts'].filter((path) => tree.includes(path)) : [],
  }
}

function answer(text: string): unknown {
  const asked = fenced(text, 'question of Bot B') ?? ''
  const rule = listItems(part(text, /^Criteria of the owner:\n/m) ?? '').find((line) => /threshold/i.test(line))
  if (rule !== undefined && asked.includes('50') && asked.includes('1.90')) return { answer: '1.90: an order of exactly 50.00 € pays 1.90 €.', why: `The criteria say: "${rule}" 50.00 € reaches the threshold.` }
  return { answer: null, why: 'It follows neither from the requirement nor from the criteria; only the owner can say.' }
}

function review(text: string): unknown {
  const facts = /^Facts of the host: (.*)$/m.exec(text)?.[1]
  if (facts === undefined) return { text: 'I see no facts of the host, so I cannot judge this result.', recommendation: 'unsure' }
  const passed = facts.includes('verification passed') && facts.includes('tree digest matches')
  if (!passed) return { text: `I recommend to **reject** this result: the re-run in a clean copy did not confirm it (${facts.replace(/\.$/, '')}).`, recommendation: 'reject' }
  const changed = [...(fenced(text, 'diff') ?? '').matchAll(/^\+\+\+ (?:b\/)?(\S+)/gm)].map((match) => `\`${match[1]}\``)
  const where = changed.length === 0 ? '' : ` The change is in ${[...new Set(changed)].join(', ')}.`
  return { text: `I recommend to **accept**: in my clean copy everything passed (${facts.replace(/\.$/, '')}).${where} Worth a look: how the boundaries of the price steps are written down.`, recommendation: 'accept' }
}

function testCommandOf(text: string): string {
  const fixed = /^Test command \(fixed by the owner\): (.+)$/m.exec(text)?.[1]
  return (fixed ?? listItems(part(text, /^Likely test commands:\n/m) ?? '')[0] ?? 'true').slice(0, 1_000)
}

/** What follows a heading, up to the next blank line. */
function part(text: string, heading: RegExp): string | null {
  const found = heading.exec(text)
  if (found === null) return null
  return text.slice(found.index + found[0].length).split('\n\n', 1)[0]?.trim() ?? null
}

function fenced(text: string, label: string): string | null {
  const from = text.indexOf(`BEGIN ${label}\n`)
  const to = text.indexOf(`\nEND ${label}`, from)
  return from === -1 || to === -1 ? null : text.slice(from + `BEGIN ${label}\n`.length, to)
}

function listItems(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : []))
}
