import { describe, expect, it } from 'vitest'
import { failure } from '../../../src-preload/contract/failure.ts'
import { digestSchema } from '../../../src-preload/contract/ids.ts'
import { decodeEnvelope } from '../envelope/codec.ts'
import { activeTurn, openQuestion, waitingHolds } from './model.ts'
import { aBrief, aTask, collect, playTask, playToResult, playToSend, playToWork, remoteTarget, say, submitTurn, type Played } from './played.suite.ts'
import { taskRow } from './rows/task-row.ts'
import { taskRowSchema } from '../../../src-preload/contract/rows.ts'

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'utf8'))
const envelopes = (task: Played) => task.events.flatMap((event) => (event.type === 'envelope-posted' ? [event.text] : []))
const broken = failure('unavailable', 'It broke.', 'Try again.')
const types = (task: Played, from: number): string[] => task.events.slice(from).map((event) => event.type)

describe('words of models and people', () => {
  const wide = '\u{1F600}'.repeat(2_000)
  const control = '\u0001'.repeat(4_000)

  it.each([['wide', wide], ['control', control], ['half', `${'x'.repeat(3_999)}\uD83D`]])('sends a question of %s characters as an envelope that its reader takes', (_name, text) => {
    const task = playToWork()
    expect(task.give(say.question('que_1', text, Array.from({ length: 20 }, () => text.slice(0, 500)))).ok).toBe(true)
    expect(openQuestion(task.state)?.state).toBe('open')
    for (const envelope of envelopes(task)) expect(decodeEnvelope(bytes(envelope)).ok).toBe(true)
  })

  it.each([['wide', wide], ['control', control]])('sends a summary of %s characters as a result that its reader takes', (_name, text) => {
    const task = playToWork()
    task.endTurn('completed', text)
    collect(task)
    expect(task.state.phase).toBe('verifying')
    for (const envelope of envelopes(task)) expect(decodeEnvelope(bytes(envelope)).ok).toBe(true)
  })

  it('passes the question on when the lead\'s answer is too long to be sent, and refuses the owner\'s', () => {
    const task = playToWork().play(say.question('que_1'))
    const { questionId } = openQuestion(task.state)!
    task.play({ is: 'lead-answered', questionId, answer: control.repeat(2), why: '' })
    expect(openQuestion(task.state)?.state).toBe('asked-owner')
    expect(task.give({ is: 'answer-question', questionId, text: control.repeat(2) })).toMatchObject({ ok: false, error: { code: 'invalid-input' } })
    expect(task.give({ is: 'answer-question', questionId, text: 'b \uD800' }).ok).toBe(true)
  })

  it('asks the owner to write the brief when the lead\'s cannot be sent', () => {
    const task = playTask().play(say.prepared)
    task.play({ is: 'brief-written', brief: { ...aBrief, excerpts: [{ id: 'x'.repeat(300), content: '' }] } })
    expect(openQuestion(task.state)?.purpose).toBe('brief')
    task.play({ is: 'write-brief', brief: { ...aBrief, goal: 'half \uD800' } })
    expect(task.decideHold('approved').ok).toBe(true)
    expect(task.state.status).toBe('claimed')
  })

  it('takes an empty test command of the owner as none', () => {
    const task = playTask(say.open({ task: { testCommand: ' ' } })).play(say.prepared, say.brief)
    expect(task.state.brief?.brief.testCommand).toBe('bun test')
    expect(task.decideHold('approved').ok).toBe(true)
  })

  it('refuses a requirement that no envelope could carry, before anything begins', () => {
    expect(() => playTask(say.open({ task: { requirement: '\u{1F600}'.repeat(6_000) } }))).toThrow(/16 KiB/)
  })

  it.each(['/etc', '/workspace/../etc', '/workspace/./a', '/workspaces'])('denies a command in %s without asking', (cwd) => {
    const task = playToWork().play(say.bash('per_1', 'ls', cwd))
    expect(waitingHolds(task.state)).toEqual([])
    expect(task.effects).toMatchObject([{ kind: 'coder.answerPermission', allow: false }])
  })

  it.each(['text', 'cwd'])('denies a command whose %s cannot be shown as it is, without asking', (where) => {
    const task = playToWork()
    task.play(where === 'text' ? say.bash('per_1', 'ls \uD800') : say.bash('per_1', 'ls', '/workspace/\uD800'))
    expect(waitingHolds(task.state)).toEqual([])
    expect(task.effects).toMatchObject([{ kind: 'coder.answerPermission', allow: false }])
  })
})

describe('providers', () => {
  it('asks nothing of a lead whose provider the owner never approved, although the owner wrote the brief', () => {
    const task = playTask(say.open({ lead: remoteTarget })).play(say.prepared, { is: 'write-brief', brief: aBrief })
    expect(waitingHolds(task.state).map((record) => record.hold.kind)).toEqual(['brief'])
    task.decideHold('approved')
    submitTurn(task.play(say.started, say.bound)).play(say.question('que_1'))
    expect(openQuestion(task.state)?.state).toBe('asked-owner')
    expect(task.effects).toEqual([])
    task.play({ is: 'answer-question', questionId: openQuestion(task.state)!.questionId, text: 'the second' })
    submitTurn(task).endTurn()
    collect(task).play(say.verified(true))
    expect(task.state).toMatchObject({ status: 'result-ready', verified: true })
    expect(task.effects.map((effect) => effect.kind)).toEqual(['coder.stop'])
    task.play({ is: 'call-wanted', bot: 'lead', model: 'm', bodyBytes: 10, price: null, outputTokensMax: 10 })
    expect(task.events.at(-1)).toMatchObject({ type: 'call-refused', code: 'provider_not_approved' })
  })

  it('says that the brief was denied when the owner denied it', () => {
    const task = playTask().play(say.prepared, say.brief)
    task.decideHold('denied')
    expect(task.state).toMatchObject({ status: 'cancelled', disposition: 'brief-denied' })
  })
})

describe('questions', () => {
  it('keeps what became of a question apart: expired is not withdrawn, answered stays answered', () => {
    const expired = playToWork().play(say.question('que_1'))
    const { questionId } = openQuestion(expired.state)!
    expired.play({ is: 'question-expired', questionId })
    expect(expired.state.status).toBe('failed')
    expect(expired.state.questions.get(questionId)?.state).toBe('expired')

    const answered = playToWork().play(say.question('que_1'))
    const asked = openQuestion(answered.state)!.questionId
    answered.play({ is: 'lead-answered', questionId: asked, answer: 'b', why: '' }, { is: 'stop-task' })
    expect(answered.state.questions.get(asked)?.state).toBe('answered')
  })

  it('answers two questions at once each with a reply to its own, in any order', () => {
    const task = playToWork().play(say.question('que_1', 'First?'), say.question('que_2', 'Second?'))
    const [first, second] = [...task.state.questions.values()]
    task.play({ is: 'answer-question', questionId: second!.questionId, text: 'two' }, { is: 'answer-question', questionId: first!.questionId, text: 'one' })
    const answers = envelopes(task).map((text) => JSON.parse(text) as { kind: string; inReplyTo: string; payload: { answer: string } }).filter((envelope) => envelope.kind === 'answer')
    expect(answers.map((envelope) => [envelope.payload.answer, envelope.inReplyTo])).toEqual([['two', second!.envelopeId], ['one', first!.envelopeId]])
  })

  it('withdraws a question whose turn ended without its answer', () => {
    const task = playToWork().play(say.question('que_1'))
    task.endTurn()
    expect(openQuestion(task.state)).toBeNull()
    expect(task.state.status).toBe('working')
  })

  it('asks only while its answer and the result can be sent as well', () => {
    const task = playToWork(say.open({ task: { budget: { ...aTask.budget, messagesMax: 3 } } })).play(say.question('que_1'))
    expect([openQuestion(task.state), waitingHolds(task.state).map(({ hold }) => hold.title)]).toEqual([null, ['Bot B has used up its messages']])
    expect(() => playTask(say.open({ task: { budget: { ...aTask.budget, messagesMax: 1 } } }))).toThrow(/two messages/)
    // Of two at once each owes an answer: 1 request, 2 questions, 2 answers and 1 result do not fit into 5.
    const both = playToWork(say.open({ task: { budget: { ...aTask.budget, messagesMax: 5 } } })).play(say.question('que_1'), say.question('que_2'))
    expect([both.state.questions.size, waitingHolds(both.state).length]).toEqual([1, 1])
  })

  it('asks the owner when asking the lead broke', () => {
    const task = playToWork().play(say.question('que_1'), { is: 'effect-failed', effect: 'lead.answer', failure: broken })
    expect(openQuestion(task.state)?.state).toBe('asked-owner')
  })
})

describe('effects that could not be done', () => {
  it('lets the owner write the brief when asking the lead broke', () => {
    const task = playTask().play(say.prepared, { is: 'effect-failed', effect: 'lead.brief', failure: broken })
    expect(openQuestion(task.state)).toMatchObject({ purpose: 'brief' })
  })

  it('leaves a result unverified, with the reason, when the check itself broke', () => {
    const task = playToWork()
    task.endTurn()
    collect(task).play({ is: 'effect-failed', effect: 'verify.run', failure: broken })
    expect(task.state).toMatchObject({ phase: 'reviewing', verified: false, verification: { failure: { message: 'It broke.' } } })
    task.play({ is: 'effect-failed', effect: 'lead.review', failure: broken })
    expect(task.state.status).toBe('result-ready')
  })

  it('disposes of the workspace of a task that failed before anything ran', () => {
    const task = playTask().play({ is: 'effect-failed', effect: 'workspace.prepare', failure: broken })
    expect(task.state.status).toBe('failed')
    expect(task.effects).toEqual([{ kind: 'workspace.dispose' }])
  })

  it('asks for a look at the folder when applying broke off', () => {
    const task = playToResult()
    task.decideHold('approved')
    task.play({ is: 'effect-failed', effect: 'workspace.apply', failure: broken })
    expect(task.state).toMatchObject({ phase: 'applying', status: 'result-ready', recovery: { state: 'uncertain' } })
    task.play({ is: 'resolve-recovery', exit: 're-check' })
    expect(task.effects).toMatchObject([{ kind: 'workspace.observe' }])
    task.play({ is: 'applied', how: 'folder', detail: 'found', patchPath: null })
    expect(task.state).toMatchObject({ status: 'accepted', recovery: null })
  })

  it('leaves no turn open behind a failed task', () => {
    const task = playToSend().play({ is: 'effect-failed', effect: 'coder.submit', failure: broken })
    expect(task.state.status).toBe('failed')
    expect(activeTurn(task.state)).toBeNull()
  })
})

describe('late and doubled signals', () => {
  it('opens no row for a call that no process of ours can run', () => {
    const task = playToWork().play({ is: 'coder-exited', how: 'code 1' })
    const before = task.events.length
    task.play(say.toolStarted('call_1'))
    expect(task.events).toHaveLength(before)
    expect(task.state.openTools.size).toBe(0)
  })

  it('gives a call that ends after its task one final record, and a call nobody saw none', () => {
    const task = playToWork().play(say.toolStarted('call_1'), { is: 'stop-task' }, say.stopped)
    const before = task.events.length
    task.play(say.toolEnded('call_1'), say.toolEnded('call_2'))
    expect(types(task, before)).toEqual([])
    expect(task.events.filter((event) => event.type === 'tool-ended')).toHaveLength(1)
  })

  it('never takes a second process, nor one of a stopped task', () => {
    const task = playToWork()
    const before = task.events.length
    task.play({ ...say.started, pid: 8 })
    expect(task.events).toHaveLength(before)
    const stopping = playTask().play(say.prepared, say.brief)
    stopping.decideHold('approved')
    stopping.play({ is: 'stop-task' }, say.started)
    expect(stopping.effects).toEqual([{ kind: 'coder.stop' }])
    expect(stopping.state.phase).toBe('stopping')
  })

  it('takes a command away from the owner that does not wait any more', () => {
    const task = playToWork().play({ is: 'command-asked', askId: 'ask_1', text: 'ls', cwd: '/workspace', isolation: 'bubblewrap' }, { is: 'ask-gone', askId: 'ask_1' })
    const [record] = [...task.state.holds.values()].slice(-1)
    expect(record?.outcome).toBe('withdrawn')
    expect(task.decideHold('approved', record!.hold.approvalId)).toMatchObject({ ok: false, error: { code: 'already-decided' } })
  })

  it('tells a command no when its turn ends before the owner decided', () => {
    const task = playToWork().play({ is: 'command-asked', askId: 'ask_1', text: 'ls', cwd: '/workspace', isolation: 'bubblewrap' })
    task.endTurn()
    expect(task.effects).toMatchObject([{ kind: 'coder.answerCommand', askId: 'ask_1', allow: false }, { kind: 'evidence.collect' }])
  })
})

describe('uncertainty', () => {
  const ambiguous = (task: Played) => task.play({ is: 'turn-ambiguous', turnId: activeTurn(task.state)!.turnId, what: 'No answer came.' })

  it('takes the completed end of an uncertain turn, whenever history tells it', () => {
    const task = ambiguous(playToSend())
    task.endTurn('completed')
    expect(task.state).toMatchObject({ recovery: null, phase: 'collecting' })
  })

  it('leaves nothing waiting of a turn that history settled or the owner took as done', () => {
    const ended = [
      (task: Played) => task.play({ is: 'turn-reconciled', turnId: activeTurn(task.state)!.turnId, state: 'completed', text: '' }),
      (task: Played) => task.play({ is: 'resolve-recovery', exit: 'mark-done' }), (task: Played) => task.play({ is: 'resolve-recovery', exit: 'resend' }, say.stopped),
    ]
    for (const end of ended) {
      const task = playToWork().play(say.restarted, { is: 'resolve-recovery', exit: 're-check' }, say.started, say.bash('per_1', 'ls'), say.question('que_1'), say.toolStarted('call_1'))
      expect(waitingHolds(task.state)).toHaveLength(1)
      end(task)
      expect([waitingHolds(task.state).length, openQuestion(task.state), task.state.openTools.size]).toEqual([0, null, 0])
    }
  })

  it('leaves the exits to the owner when an uncertain turn ended without a result', () => {
    const task = ambiguous(playToSend())
    task.endTurn('failed')
    expect(task.state).toMatchObject({ recovery: { state: 'uncertain' }, status: 'claimed' })
  })

  it('sends again under the same ids what history does not have, and pays once', () => {
    const task = ambiguous(playToSend())
    task.play({ is: 'turn-reconciled', turnId: activeTurn(task.state)!.turnId, state: 'absent', text: '' }, { is: 'resolve-recovery', exit: 'resend' })
    expect(task.effects).toEqual([{ kind: 'coder.submit', turnId: task.state.turns[0]!.turnId }])
    expect(task.state.turns).toHaveLength(1)
    expect(task.state.spending.open.size + task.state.spending.spent.turns).toBe(1)
  })

  it('asks history anew before it sends the same ids a third time', () => {
    const task = ambiguous(playToSend())
    const { turnId } = activeTurn(task.state)!
    task.play({ is: 'turn-reconciled', turnId, state: 'absent', text: '' }, { is: 'resolve-recovery', exit: 'resend' }, say.restarted, { is: 'resolve-recovery', exit: 'resend' }, say.started)
    expect(task.effects).toEqual([{ kind: 'coder.submit', turnId: task.state.turns[1]!.turnId }])
    expect(task.state.turns[1]?.messageId).not.toBe(task.state.turns[0]?.messageId)
  })

  it.each(['interrupted', 'unchecked'] as const)('goes on by a new prompt where the turn is %s: the runtime would take its old ids as known', (known) => {
    const task = ambiguous(playToSend())
    if (known === 'interrupted') task.play({ is: 'turn-reconciled', turnId: activeTurn(task.state)!.turnId, state: 'interrupted', text: '' })
    task.play({ is: 'resolve-recovery', exit: 'resend' })
    expect([task.effects, task.state.turns.length, task.state.recovery?.resending]).toEqual([[{ kind: 'coder.stop' }], 1, true])
    task.play(say.stopped)
    expect(task.effects).toEqual([{ kind: 'coder.start' }])
    task.play(say.started)
    expect(task.effects).toEqual([{ kind: 'coder.submit', turnId: task.state.turns[1]!.turnId }])
    expect(new Set(task.state.turns.map((turn) => turn.messageId)).size).toBe(2)
  })

  it('sends an answer again as a prompt of its own, since its message is not its own', () => {
    const task = playToWork().play(say.question('que_1'))
    task.play({ is: 'lead-answered', questionId: openQuestion(task.state)!.questionId, answer: 'b', why: '' }, say.restarted, { is: 'resolve-recovery', exit: 'resend' })
    expect(new Set(task.state.turns.map((turn) => turn.messageId)).size).toBe(2)
    expect(activeTurn(task.state)?.text).toContain('b')
  })

  it('starts one process however often the owner asks to check or resend', () => {
    const task = playToWork().play(say.restarted)
    const checking = (): unknown => taskRow(task.state, { isolation: null, waiting: null }).recovery?.checking
    expect(checking()).toBeUndefined()
    task.play({ is: 'resolve-recovery', exit: 're-check' })
    expect(checking(), 'and says so while it starts').toBe(true)
    expect(task.effects).toEqual([{ kind: 'coder.start' }])
    task.play({ is: 'resolve-recovery', exit: 're-check' })
    expect(task.effects).toEqual([])
    task.play({ is: 'resolve-recovery', exit: 'resend' })
    expect(task.effects).toEqual([])
    task.play(say.started)
    expect(task.effects).toMatchObject([{ kind: 'coder.submit' }])
  })

  it('keeps its words within what the window takes, however often a check fails', () => {
    const task = playToWork().play(say.restarted)
    for (let check = 0; check < 20; check += 1) task.play({ is: 'effect-failed', effect: 'coder.reconcile', failure: failure('unavailable', 'x'.repeat(1_900), '') })
    expect(taskRowSchema.safeParse(taskRow(task.state, { isolation: null, waiting: null })).success).toBe(true)
  })

  it('counts a model call that the app\'s end cut off as spent, and ends its row', () => {
    const task = playToWork().play({ is: 'call-wanted', bot: 'coder', model: 'm', bodyBytes: 10, price: null, outputTokensMax: 10 }, say.restarted)
    expect(task.state.calls).toMatchObject([{ settled: true, ok: false }])
    expect(task.state.spending.open.get('call-1')?.tokens).toBe(15)
  })

  it('takes the end of a finished task\'s process for no proof: it is stopped again, and only then gone and cleaned up', () => {
    const task = playToResult().play({ is: 'effect-failed', effect: 'coder.stop', failure: broken })
    task.decideHold('denied')
    expect(task.effects).toEqual([{ kind: 'coder.stop' }])
    task.play({ is: 'effect-failed', effect: 'coder.stop', failure: broken }, { is: 'coder-exited', how: 'SIGKILL' })
    expect([task.state.coder.is, task.effects]).toEqual(['running', [{ kind: 'coder.stop' }]])
    task.play({ is: 'effect-failed', effect: 'coder.stop', failure: broken }, { is: 'stop-task' })
    expect([task.state.coder.is, task.effects]).toEqual(['running', [{ kind: 'coder.stop' }]])
    task.play(say.stopped)
    expect([task.state.coder.is, task.effects]).toEqual(['gone', [{ kind: 'workspace.dispose' }]])
    expect(task.events.filter(({ type }) => type === 'coder-gone')).toMatchObject([{ proof: { method: expect.any(String) as string } }])
  })

  it('lets its owner delete what a finished task left, on record, and not before its process is known to be gone', () => {
    const refused = { ok: false, error: { code: 'wrong-state' } }
    const task = playToResult()
    expect(task.give({ is: 'clean-up' })).toMatchObject(refused)
    task.decideHold('denied')
    expect(task.give({ is: 'clean-up' })).toMatchObject(refused)
    task.play(say.stopped, { is: 'clean-up' })
    expect(task.events.at(-1)).toMatchObject({ type: 'noted', level: 'info', text: expect.stringContaining('deleted what this task had left on disk') as string })
  })

  it('counts a run of the test command in another folder as no test run', () => {
    const ran = (cwd: string) => ({ is: 'command-ran', text: 'bun test', cwd, exitCode: 0, refused: null, logDigest: digestSchema.parse(`sha256:${'0'.repeat(64)}`), logTail: '', durationMs: 5, limitHit: null }) as const
    const task = playToWork().play(ran('/workspace/fake'))
    expect(task.state.lastTestRun).toBeNull()
    expect(task.play(ran('/workspace')).state.lastTestRun).toMatchObject({ command: 'bun test', exitCode: 0 })
  })

  it('disposes of a finished task\'s workspace although the app ended before that was done', () => {
    const task = playToWork()
    task.endTurn('failed')
    expect(task.effects).toEqual([{ kind: 'coder.stop' }])
    task.play(say.restarted)
    expect(task.state.coder.is).toBe('gone')
    expect(task.effects).toEqual([{ kind: 'workspace.dispose' }])
  })
})

describe('what the first turn asks', () => {
  it('shows that the turn arrived, so that the task waits as blocked and no late answer of the send makes it uncertain', () => {
    const task = playToSend().play(say.question('que_1'))
    expect(task.state.status).toBe('blocked')
    task.play({ is: 'turn-ambiguous', turnId: task.state.turns[0]!.turnId, what: 'No answer came.' })
    expect(task.state.recovery).toBeNull()
  })
})

describe('stop', () => {
  it('tells what waited until the deadline apart from a refusal and a withdrawal, and what nobody could see from what was left', () => {
    const task = playToWork().play(say.bash('per_1', 'make'), say.bash('per_2', 'make all'), say.question('que_1'))
    const [seen, unseen] = [...task.state.holds.values()].filter(({ outcome }) => outcome === 'waiting')
    task.play({ is: 'hold-shown', approvalId: seen!.hold.approvalId, digest: seen!.hold.digest }, { is: 'deadline-passed' })
    expect(task.state.holds.get(seen!.hold.approvalId)?.outcome).toBe('expired')
    expect(task.state.holds.get(unseen!.hold.approvalId)?.outcome).toBe('never-shown')
    expect([...task.state.questions.values()].map(({ state }) => state)).toEqual(['expired'])

    const stopped = playToWork().play(say.bash('per_1', 'make'), { is: 'stop-task' })
    expect([...stopped.state.holds.values()].at(-1)?.outcome).toBe('withdrawn')
  })

  it('tries again to stop what could not be shown to have stopped', () => {
    const task = playToWork().play({ is: 'stop-task' }, { is: 'effect-failed', effect: 'coder.stop', failure: broken })
    expect(task.state.cancel?.state).toBe('requested')
    task.play({ is: 'stop-task' })
    expect(task.effects).toEqual([{ kind: 'coder.stop' }])
    expect(task.state.generation).toBe(2)
  })
})
