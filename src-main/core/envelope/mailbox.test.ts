import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digestOfText } from '../digest.ts'
import { encodeEnvelope, type EnvelopeDraft } from './codec.ts'
import { allow, bind, emptyMailbox, raiseGeneration, receive, send, type Binding, type Mailbox, type Peer, type Route } from './mailbox.ts'
import { envelopeRate } from './rate.ts'

const lead: Peer = { owner: 'ada', bot: 'lead' }
const coder: Peer = { owner: 'bo', bot: 'coder' }
const toCoder: Route = { transport: 'dm', scope: 'direct', conversation: 'c1', from: lead, to: coder }
const inputDigest = digestOfText('input')

const draft = (change: Partial<EnvelopeDraft> = {}): EnvelopeDraft => ({
  version: 1, kind: 'request', eventId: 'env_1', taskId: 'task_1', turnId: null, inReplyTo: null, generation: 1, seq: 1, inputVersion: 1, inputDigest,
  payload: { requirement: 'r', goal: 'g', scope: '', criteria: [], testCommand: 't', excerpts: [] }, ...change,
})
const question = (change: Partial<EnvelopeDraft> = {}): EnvelopeDraft => draft({ kind: 'question', eventId: 'env_q', turnId: 'turn_1', inReplyTo: 'env_1', payload: { question: 'which?', options: [] }, ...change })
const answer = (change: Partial<EnvelopeDraft> = {}): EnvelopeDraft => draft({ kind: 'answer', eventId: 'env_a', turnId: 'turn_1', inReplyTo: 'env_q', seq: 2, payload: { answer: 'the second' }, ...change })
const bytesOf = (envelope: EnvelopeDraft): Uint8Array => new Uint8Array(Buffer.from(encodeEnvelope(envelope).text))

function opened(mailbox: Mailbox, binding: Partial<Binding> & Pick<Binding, 'route' | 'plays'>): Mailbox {
  const bound = bind(mailbox, { taskId: 'task_1', generation: 1, input: null, sessionId: null, ...binding })
  if (!bound.ok) throw new Error(bound.error)
  return bound.value
}
/** The coder's end, with everything allowed. */
function coderEnd(): Mailbox {
  const permitted = allow(allow(emptyMailbox(coder), { transport: 'dm', from: lead, to: coder, kinds: ['request', 'answer', 'cancel'] }), { transport: 'dm', from: coder, to: lead, kinds: ['question', 'progress', 'result', 'failure', 'cancel-observed'] })
  return opened(permitted, { route: toCoder, plays: 'lead', sessionId: 'ses_1' })
}
const take = (mailbox: Mailbox, envelope: EnvelopeDraft, route = toCoder) => receive(mailbox, route, bytesOf(envelope), 1_000, envelopeRate)
function taken(mailbox: Mailbox, envelope: EnvelopeDraft): Mailbox {
  const { mailbox: after, verdict } = take(mailbox, envelope)
  expect(verdict.is).toBe('taken')
  return after
}
function sent(mailbox: Mailbox, envelope: EnvelopeDraft): Mailbox {
  const noted = send(mailbox, envelope as never)
  if (!noted.ok) throw new Error(noted.error)
  return noted.value.mailbox
}

describe('a mailbox', () => {
  it('takes a request, and the answer to a question that it sent', () => {
    const asked = sent(taken(coderEnd(), draft()), question())
    expect(take(asked, answer()).verdict).toMatchObject({ is: 'taken', envelope: { kind: 'answer' } })
  })

  it('takes the same bytes once, and other bytes under a known id or sequence not at all', () => {
    const after = taken(coderEnd(), draft())
    expect(take(after, draft()).verdict).toEqual({ is: 'duplicate' })
    expect(take(after, draft({ payload: { requirement: 'other', goal: 'g', scope: '', criteria: [], testCommand: 't', excerpts: [] } })).verdict).toEqual({ is: 'refused', reason: 'conflict' })
    expect(take(after, draft({ eventId: 'env_2' })).verdict).toEqual({ is: 'refused', reason: 'conflict' })
    expect(take(after, draft({ eventId: 'env_2', seq: 2 })).verdict).toEqual({ is: 'refused', reason: 'conflict' })
  })

  it('takes one answer to a question, whatever its id, in any order of sequence', () => {
    const asked = sent(taken(coderEnd(), draft({ seq: 5 })), question())
    const answered = taken(asked, answer({ seq: 2 }))
    expect(take(answered, answer({ eventId: 'env_b', seq: 3 })).verdict).toEqual({ is: 'refused', reason: 'not-outstanding' })
  })

  describe('that sent a result', () => {
    const result = draft({ kind: 'result', eventId: 'env_r', turnId: 'turn_1', inReplyTo: 'env_1', payload: { summary: 's', testCommand: 't', exitCode: 1, logDigest: null, treeDigest: inputDigest, diffDigest: inputDigest, filesChanged: 1 } })
    const correction = (change: Partial<EnvelopeDraft> = {}): EnvelopeDraft => draft({ eventId: 'env_c', turnId: 'turn_2', inReplyTo: 'env_r', seq: 2, ...change })
    const resultSent = (): Mailbox => sent(taken(coderEnd(), draft()), result)

    it('takes its correction once, in the same session and input, and then that of the next result', () => {
      const { mailbox: corrected, verdict } = take(resultSent(), correction())
      expect(verdict).toMatchObject({ is: 'taken', binding: { sessionId: 'ses_1', input: { version: 1, digest: inputDigest } } })
      expect(take(corrected, correction()).verdict).toEqual({ is: 'duplicate' })
      expect(take(corrected, correction({ eventId: 'env_d', turnId: 'turn_3', seq: 3 })).verdict).toEqual({ is: 'refused', reason: 'not-outstanding' })
      const again = sent(corrected, { ...result, eventId: 'env_r2', turnId: 'turn_2', inReplyTo: 'env_c', seq: 2 })
      expect(take(again, correction({ eventId: 'env_d', turnId: 'turn_3', inReplyTo: 'env_r2', seq: 3 })).verdict.is).toBe('taken')
    })

    it.each([
      ['another request that begins the work', { turnId: null, inReplyTo: null }, 'conflict'], ['a correction of something else', { inReplyTo: 'env_1' }, 'not-outstanding'], ['a correction of nothing that was sent', { inReplyTo: 'env_x' }, 'not-outstanding'],
      ['a correction of another input', { inputDigest: digestOfText('other') }, 'other-input'], ['a correction of another version', { inputVersion: 2 }, 'other-input'], ['a correction under a sequence that was used', { seq: 1 }, 'conflict'], ['a correction of a generation that the host never gave', { generation: 2 }, 'future-generation'],
    ] as const)('refuses %s', (_name, change, reason) => {
      expect(take(resultSent(), correction(change)).verdict).toEqual({ is: 'refused', reason })
    })

    it('refuses a correction of a question, and of a task whose request never came', () => {
      const asked = sent(taken(coderEnd(), draft()), question())
      expect(take(asked, correction({ inReplyTo: 'env_q' })).verdict).toEqual({ is: 'refused', reason: 'not-outstanding' })
      expect(take(coderEnd(), correction()).verdict).toEqual({ is: 'refused', reason: 'not-outstanding' })
    })
  })

  const from = (owner: string, bot: string): Route => ({ ...toCoder, from: { owner, bot } })
  it.each([
    ['another bot of the right owner', from('ada', 'other'), draft(), 'no-permit'],
    ['another owner', from('eve', 'lead'), draft(), 'no-permit'],
    ['a bot of the same owner', from('bo', 'lead'), draft(), 'same-owner'],
    ['another recipient', { ...toCoder, to: { owner: 'bo', bot: 'other' } }, draft(), 'wrong-recipient'],
    ['another transport', { ...toCoder, transport: 'mail' }, draft(), 'no-permit'],
    ['another conversation', { ...toCoder, conversation: 'c2' }, draft(), 'wrong-route'],
    ['a room', { ...toCoder, scope: 'room' } as const, draft(), 'other-owner'],
    ['an unknown task', toCoder, draft({ taskId: 'task_9' }), 'unknown-task'],
    ['an older generation', toCoder, draft({ generation: 1 }), 'stale-generation'],
    ['a generation that the host never gave', toCoder, draft({ generation: 3 }), 'future-generation'],
    ['a kind that the sender does not play', toCoder, question(), 'no-permit'],
    ['an answer to nothing', toCoder, answer({ generation: 2 }), 'not-outstanding'],
  ])('refuses %s, and keeps nothing of it', (_name, route, envelope, reason) => {
    const mailbox = reason === 'stale-generation' || reason === 'future-generation' || reason === 'not-outstanding' ? raiseGeneration(coderEnd(), 'task_1', 2) : coderEnd()
    const { mailbox: after, verdict } = take(mailbox, envelope, route)
    expect(verdict).toEqual({ is: 'refused', reason })
    expect({ ...after, arrivals: mailbox.arrivals }).toEqual(mailbox)
  })

  it('refuses what is bound to another input, and a role that the sender does not play even where it is permitted', () => {
    const permissive = allow(coderEnd(), { transport: 'dm', from: lead, to: coder, kinds: ['request', 'answer', 'cancel', 'result', 'question'] })
    const asked = sent(taken(permissive, draft()), question())
    expect(take(asked, answer({ inputDigest: digestOfText('other') })).verdict).toEqual({ is: 'refused', reason: 'other-input' })
    expect(take(asked, question({ eventId: 'env_x', seq: 7 })).verdict).toEqual({ is: 'refused', reason: 'wrong-role' })
  })

  it('takes a cancel of a newer generation, and then nothing of the older', () => {
    const cancel = (generation: number, eventId: string, seq: number) => draft({ kind: 'cancel', eventId, seq, generation, inputVersion: 0, inputDigest: null, payload: { cause: 'the owner stopped it' } })
    const asked = sent(taken(coderEnd(), draft()), question())
    expect(take(asked, cancel(1, 'env_c1', 3)).verdict).toEqual({ is: 'refused', reason: 'stale-generation' })
    const cancelled = taken(asked, cancel(2, 'env_c2', 4))
    expect(take(cancelled, answer()).verdict).toEqual({ is: 'refused', reason: 'stale-generation' })
    expect(send(cancelled, question({ eventId: 'env_late' }) as never)).toEqual({ ok: false, error: 'stale-generation' })
  })

  it('takes and sends nothing in a direction that was revoked', () => {
    const asked = sent(taken(coderEnd(), draft()), question())
    expect(take(allow(asked, { transport: 'dm', from: lead, to: coder, kinds: [] }), answer()).verdict).toEqual({ is: 'refused', reason: 'no-permit' })
    expect(send(allow(asked, { transport: 'dm', from: coder, to: lead, kinds: [] }), question({ eventId: 'env_r' }) as never)).toEqual({ ok: false, error: 'no-permit' })
  })

  it('binds no task between two bots of one owner over a direct transport, no task twice, and no session to two tasks', () => {
    const mailbox = coderEnd()
    const binding: Binding = { route: toCoder, taskId: 'task_2', plays: 'lead', generation: 1, input: null, sessionId: 'ses_2' }
    expect(bind(mailbox, { ...binding, route: { ...toCoder, from: { owner: 'bo', bot: 'lead' } } })).toEqual({ ok: false, error: 'same-owner' })
    expect(bind(mailbox, { ...binding, taskId: 'task_1' })).toEqual({ ok: false, error: 'bound-already' })
    expect(bind(mailbox, { ...binding, sessionId: 'ses_1' })).toEqual({ ok: false, error: 'session-in-use' })
    expect(bind(mailbox, { ...binding, route: { ...toCoder, scope: 'room' } })).toEqual({ ok: false, error: 'other-owner' })
    expect(bind(mailbox, binding).ok).toBe(true)
  })

  it('counts a flood before it reads it', () => {
    let mailbox = coderEnd()
    let refused = 0
    for (let arrival = 0; arrival < envelopeRate.envelopesMax + 5; arrival += 1) {
      const result = receive(mailbox, toCoder, new Uint8Array([0xff]), 1_000, envelopeRate)
      mailbox = result.mailbox
      if (result.verdict.is === 'refused' && result.verdict.reason === 'rate-exceeded') refused += 1
    }
    expect(refused).toBe(5)
  })

  it('never takes bytes that differ in any place from an envelope that it would take', () => {
    const bytes = bytesOf(draft())
    fc.assert(fc.property(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (place, flip) => {
      const changed = bytes.slice()
      changed[place] = (changed[place] ?? 0) ^ flip
      const { verdict } = receive(coderEnd(), toCoder, changed, 1_000, envelopeRate)
      // Changed words in free text are another envelope, which its sender would have to send; everything that names, counts or shapes is refused.
      if (verdict.is === 'taken') expect(encodeEnvelope(verdict.envelope).text).toBe(Buffer.from(changed).toString('utf8'))
    }), { numRuns: 500 })
  })
})

describe('what a mailbox is told', () => {
  const permit = { transport: 'dm', from: lead, to: coder, kinds: ['request', 'answer'] } as const

  it('begins with nothing', () => {
    expect(emptyMailbox(coder)).toEqual({ self: coder, permits: [], bindings: [], heard: new Map(), sequences: new Map(), outstanding: new Map(), arrivals: new Map() })
  })

  it('of a direction replaces what was allowed in it, and no other', () => {
    const others = [{ ...permit, transport: 'mail' }, { ...permit, from: { ...lead, bot: 'other' } }, { ...permit, from: { ...lead, owner: 'eve' } }, { ...permit, to: { ...coder, bot: 'other' } }, { ...permit, from: coder, to: lead }]
    const all = [permit, ...others].reduce(allow, emptyMailbox(coder))
    expect(allow(all, { ...permit, kinds: ['cancel'] }).permits).toEqual([...others, { ...permit, kinds: ['cancel'] }])
    expect(allow(all, { ...permit, kinds: [] }).permits).toEqual(others)
  })

  it('of a task binds it, also in a room of one owner, and no session to nothing twice', () => {
    const room: Route = { transport: 'room', scope: 'room', conversation: 'r', from: { owner: 'bo', bot: 'lead' }, to: coder }
    const one: Binding = { route: room, taskId: 'task_1', plays: 'lead', generation: 1, input: null, sessionId: null }
    const two: Binding = { ...one, taskId: 'task_2' }
    const bound = bind(emptyMailbox(coder), one)
    expect(bound).toEqual({ ok: true, value: { ...emptyMailbox(coder), bindings: [one] } })
    expect(bound.ok && bind(bound.value, two)).toMatchObject({ ok: true, value: { bindings: [one, two] } })
    expect(bind(emptyMailbox(lead), one)).toEqual({ ok: false, error: 'wrong-recipient' })
    expect(bind(emptyMailbox({ ...coder, owner: 'eve' }), one)).toEqual({ ok: false, error: 'wrong-recipient' })
  })

  it('of a generation raises that task, never lowers it, and leaves the others', () => {
    const two = opened(coderEnd(), { route: toCoder, plays: 'lead', taskId: 'task_2' })
    const raised = raiseGeneration(two, 'task_1', 3)
    const generations = (mailbox: Mailbox): readonly number[] => mailbox.bindings.map(({ generation }) => generation)
    expect([generations(raised), generations(raiseGeneration(raised, 'task_1', 2)), generations(raiseGeneration(raised, 'task_9', 9))]).toEqual([[3, 1], [3, 1], [3, 1]])
  })
})

describe('what a mailbox sends', () => {
  const progress = question({ kind: 'progress', eventId: 'env_p', payload: { text: 'half' } })

  it('goes the way of its task, from itself to the other end, and may be replied to', () => {
    const noted = send(coderEnd(), question() as never)
    expect(noted).toMatchObject({ ok: true, value: { route: { transport: 'dm', scope: 'direct', conversation: 'c1', from: coder, to: lead } } })
    expect(noted.ok && noted.value.mailbox.outstanding.get('task_1')).toEqual(new Map([['env_q', 'question']]))
    expect(noted.ok && send(noted.value.mailbox, progress as never)).toMatchObject({ ok: true, value: { mailbox: { outstanding: new Map([['task_1', new Map([['env_q', 'question'], ['env_p', 'progress']])]]) } } })
  })

  it('is refused without a binding, in another role, and out of its generation', () => {
    const permissive = allow(coderEnd(), { transport: 'dm', from: coder, to: lead, kinds: ['question', 'answer', 'request'] })
    expect(send(permissive, question({ taskId: 'task_9' }) as never)).toEqual({ ok: false, error: 'unknown-task' })
    expect(send(permissive, answer() as never)).toEqual({ ok: false, error: 'wrong-role' })
    expect(send(permissive, question({ generation: 2 }) as never)).toEqual({ ok: false, error: 'future-generation' })
    expect(send(raiseGeneration(permissive, 'task_1', 2), question() as never)).toEqual({ ok: false, error: 'stale-generation' })
  })

  it('as a lead is the lead\'s words only, and its request binds the input', () => {
    const end = opened(allow(emptyMailbox(lead), { transport: 'dm', from: lead, to: coder, kinds: ['request', 'answer', 'cancel', 'question'] }), { route: { ...toCoder, from: coder, to: lead }, plays: 'coder' })
    const noted = send(end, draft({ inputVersion: 4 }) as never)
    expect(noted).toMatchObject({ ok: true, value: { mailbox: { bindings: [{ input: { version: 4, digest: inputDigest } }] }, route: { from: lead, to: coder } } })
    expect(send(end, question() as never)).toEqual({ ok: false, error: 'wrong-role' })
    expect(send(end, answer() as never)).toMatchObject({ ok: true, value: { mailbox: { bindings: [{ input: null }] } } })
  })
})

describe('what a mailbox remembers', () => {
  it('is what it took: its bytes, its sequence, its input and the count of its sender', () => {
    const after = taken(coderEnd(), draft())
    expect([[...after.heard], [...after.sequences]]).toEqual([[[JSON.stringify([JSON.stringify(['ada', 'lead']), 'env_1']), digestOfText(encodeEnvelope(draft()).text)]], [[JSON.stringify([JSON.stringify(['ada', 'lead']), 'task_1', 1]), 'env_1']]])
    expect(after.bindings[0]?.input).toEqual({ version: 1, digest: inputDigest })
    expect([...after.arrivals]).toEqual([[JSON.stringify(['ada', 'lead']), [{ at: 1_000, bytes: bytesOf(draft()).length }]]])
    expect(after.outstanding.get('task_1')).toEqual(new Map())
  })

  it('is by sender and by task: another\'s ids and sequences, and those of another task, are its own', () => {
    const other: Peer = { owner: 'cy', bot: 'lead' }
    const route: Route = { ...toCoder, from: other }
    const end = opened(allow(coderEnd(), { transport: 'dm', from: other, to: coder, kinds: ['request'] }), { route, plays: 'lead', taskId: 'task_2' })
    const two = opened(end, { route: toCoder, plays: 'lead', taskId: 'task_3' })
    const first = taken(two, draft())
    expect(receive(first, route, bytesOf(draft({ taskId: 'task_2' })), 1_000, envelopeRate).verdict, 'the same id of another sender').toMatchObject({ is: 'taken', binding: { taskId: 'task_2', route } })
    expect(take(first, draft({ taskId: 'task_3', eventId: 'env_3' })).verdict.is, 'the same sequence of another task').toBe('taken')
    expect(take(first, draft({ taskId: 'task_3' })).verdict, 'the same id for another task').toEqual({ is: 'refused', reason: 'conflict' })
  })

  it('counts the arrivals of each sender apart, also of those that it refuses', () => {
    const rate = { ...envelopeRate, envelopesMax: 1 }
    const { mailbox: after } = receive(coderEnd(), { ...toCoder, from: { owner: 'eve', bot: 'lead' } }, new Uint8Array([0xff]), 1_000, rate)
    expect(receive(after, { ...toCoder, from: { owner: 'eve', bot: 'lead' } }, bytesOf(draft()), 1_000, rate).verdict).toEqual({ is: 'refused', reason: 'rate-exceeded' })
    expect(receive(after, { ...toCoder, from: { owner: 'eve', bot: 'coder' } }, bytesOf(draft()), 1_000, rate).verdict).toEqual({ is: 'refused', reason: 'no-permit' })
    expect(receive(after, toCoder, bytesOf(draft()), 1_000, rate).verdict.is).toBe('taken')
  })
})

describe('a mailbox refuses', () => {
  it('a task that is bound to a direct route when it comes over the room, and the other way round', () => {
    const roomLead: Peer = { owner: 'bo', bot: 'lead' }
    const room: Route = { transport: 'dm', scope: 'room', conversation: 'c1', from: roomLead, to: coder }
    const end = allow(coderEnd(), { transport: 'dm', from: roomLead, to: coder, kinds: ['request'] })
    expect(take(end, draft(), room).verdict).toEqual({ is: 'refused', reason: 'room-scoped' })
    const inRoom = opened(allow(allow(emptyMailbox(coder), { transport: 'dm', from: roomLead, to: coder, kinds: ['request'] }), { transport: 'dm', from: lead, to: coder, kinds: ['request'] }), { route: room, plays: 'lead' })
    expect(take(inRoom, draft()).verdict).toEqual({ is: 'refused', reason: 'room-scoped' })
    expect(take(inRoom, draft(), room).verdict.is).toBe('taken')
  })

  it('a task of somebody else\'s, and one of another transport, even where its sender is permitted', () => {
    const other: Peer = { owner: 'cy', bot: 'lead' }
    const end = allow(allow(coderEnd(), { transport: 'dm', from: other, to: coder, kinds: ['request'] }), { transport: 'mail', from: lead, to: coder, kinds: ['request'] })
    expect(take(end, draft(), { ...toCoder, from: other }).verdict).toEqual({ is: 'refused', reason: 'wrong-route' })
    expect(take(end, draft(), { ...toCoder, transport: 'mail' }).verdict).toEqual({ is: 'refused', reason: 'wrong-route' })
  })

  it('an answer bound to another version of the input, and takes one that is bound to none', () => {
    const asked = sent(taken(coderEnd(), draft()), question())
    expect(take(asked, answer({ inputVersion: 2 })).verdict).toEqual({ is: 'refused', reason: 'other-input' })
    const cancel = draft({ kind: 'cancel', eventId: 'env_c', seq: 9, generation: 2, inputVersion: 0, inputDigest: null, payload: { cause: 'stop' } })
    expect(take(asked, cancel).verdict).toMatchObject({ is: 'taken', binding: { generation: 2, input: { version: 1, digest: inputDigest } } })
  })

  it('an answer to what is no question, and leaves a question open that was answered wrongly', () => {
    const asked = sent(sent(taken(coderEnd(), draft()), question()), question({ kind: 'progress', eventId: 'env_p', payload: { text: 'half' } }))
    const { mailbox: after, verdict } = take(asked, answer({ inReplyTo: 'env_p' }))
    expect(verdict).toEqual({ is: 'refused', reason: 'not-outstanding' })
    expect(take(after, answer()).verdict.is).toBe('taken')
  })
})

describe('the lead\'s end of a task', () => {
  const back: Route = { ...toCoder, from: coder, to: lead }
  const end = (): Mailbox => sent(opened([{ transport: 'dm', from: lead, to: coder, kinds: ['request', 'answer', 'cancel'] as const }, { transport: 'dm', from: coder, to: lead, kinds: ['question', 'progress', 'result', 'failure', 'cancel-observed'] as const }].reduce<Mailbox>(allow, emptyMailbox(lead)), { route: back, plays: 'coder' }), draft())
  const failure = draft({ kind: 'failure', eventId: 'env_f', inReplyTo: 'env_1', inputVersion: 0, inputDigest: null, payload: { code: 'internal', message: 'broke' } })

  it('takes words about its request for as long as it is open, each once', () => {
    const first = take(end(), question(), back)
    expect(first.verdict.is).toBe('taken')
    const second = take(first.mailbox, question({ kind: 'progress', eventId: 'env_p', seq: 2, payload: { text: 'half' } }), back)
    expect(second.verdict.is).toBe('taken')
    const third = take(second.mailbox, { ...failure, seq: 3 }, back)
    expect(third.verdict.is).toBe('taken')
    const observed = draft({ kind: 'cancel-observed', eventId: 'env_o', inReplyTo: 'env_1', seq: 4, inputVersion: 0, inputDigest: null, payload: { method: 'never-started', checkedProcesses: 0, detail: '' } })
    expect(take(third.mailbox, observed, back).verdict.is).toBe('taken')
  })

  it('refuses words about nothing that it sent', () => {
    expect(take(end(), question({ inReplyTo: 'env_x' }), back).verdict).toEqual({ is: 'refused', reason: 'not-outstanding' })
    expect(take(end(), { ...failure, inReplyTo: 'env_x' }, back).verdict).toEqual({ is: 'refused', reason: 'not-outstanding' })
  })

  it('refuses the lead\'s own words from the coder', () => {
    const permissive = allow(end(), { transport: 'dm', from: coder, to: lead, kinds: ['request', 'answer', 'cancel'] })
    for (const word of [draft({ eventId: 'env_2' }), answer({ inReplyTo: 'env_1' })]) expect(take(permissive, word, back).verdict).toEqual({ is: 'refused', reason: 'wrong-role' })
  })
})
