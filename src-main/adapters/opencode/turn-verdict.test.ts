import { describe, expect, test } from 'vitest'
import { verdictOfTurn } from './turn-verdict.ts'
import { bodies } from './wire.ts'

let part = 0
const said = (text: string, more: object = {}): object => ({ id: `prt_${(part += 1)}`, sessionID: 's', messageID: 'm', type: 'text', text, ...more })
const user = (id: string, parts: object[] = [said('do it')]): object => ({ info: { id, sessionID: 's', role: 'user', time: { created: 1 } }, parts })
const answer = (id: string, parentID: string, info: object, parts: object[] = []): object => ({ info: { id, sessionID: 's', role: 'assistant', parentID, time: { created: 1, completed: 2 }, ...info }, parts })
const verdict = (...history: object[]): unknown => verdictOfTurn(bodies.messages.parse(history), 'msg_1')

describe('the verdict on a turn', () => {
  test('is completed only for a good finish, with the last words', () => {
    expect(verdict(user('msg_1'), answer('msg_2', 'msg_1', { finish: 'tool-calls' }), answer('msg_3', 'msg_1', { finish: 'stop' }, [said('one'), said('two')])))
      .toEqual({ is: 'ended', end: { outcome: 'completed', finish: 'stop', text: 'one\ntwo', error: null, errorCode: null } })
  })

  test.each(['unknown', 'error', 'length', 'tool-calls', 'other', undefined])('is failed, with words, for a finish of %s', (finish) => {
    expect(verdict(user('msg_1'), answer('msg_2', 'msg_1', finish === undefined ? {} : { finish }))).toMatchObject({ is: 'ended', end: { outcome: 'failed', error: expect.stringMatching(/\w/) as string } })
  })

  test('is failed with the proxy’s own code when the provider refused', () => {
    const error = { name: 'APIError', data: { message: 'No budget left', statusCode: 402, isRetryable: false, responseBody: '{"error":{"code":"budget_exhausted","message":"No budget left","type":"x"}}' } }
    expect(verdict(user('msg_1'), answer('msg_2', 'msg_1', { error }))).toMatchObject({ end: { outcome: 'failed', error: 'No budget left (HTTP 402)', errorCode: 'budget_exhausted' } })
  })

  test.each(['', 'not json', '{"error":', '{"error":"text"}', '[]'])('has no code where the body %j carries none', (responseBody) => {
    expect(verdict(user('msg_1'), answer('msg_2', 'msg_1', { error: { name: 'APIError', data: { message: 'x', responseBody } } }))).toMatchObject({ end: { outcome: 'failed', errorCode: null } })
  })

  test('is aborted when history says so', () => {
    expect(verdict(user('msg_1'), answer('msg_2', 'msg_1', { error: { name: 'MessageAbortedError', data: { message: 'Aborted' } } }))).toMatchObject({ end: { outcome: 'aborted' } })
  })

  test('tells an unknown message, one without an answer and one with half an answer apart', () => {
    expect(verdict(user('msg_0'))).toEqual({ is: 'absent' })
    expect(verdict(user('msg_1'))).toEqual({ is: 'unanswered' })
    expect(verdict(user('msg_1'), answer('msg_2', 'msg_1', { time: { created: 1 } }, [said('half')]))).toEqual({ is: 'unfinished', text: 'half' })
  })

  test('ends where the next turn begins', () => {
    expect(verdict(user('msg_1'), answer('msg_2', 'msg_1', { finish: 'stop' }, [said('first')]), user('msg_3'), answer('msg_4', 'msg_3', { finish: 'error' }))).toMatchObject({ end: { outcome: 'completed', text: 'first' } })
  })

  test('goes through messages that OpenCode wrote itself when it compacted the session', () => {
    const compaction = user('msg_3', [{ id: 'prt_c', sessionID: 's', messageID: 'msg_3', type: 'compaction', auto: true }])
    const goOn = user('msg_5', [said('Continue', { synthetic: true })])
    expect(verdict(user('msg_1'), answer('msg_2', 'msg_1', { finish: 'tool-calls' }), compaction, answer('msg_4', 'msg_3', { finish: 'stop' }, [said('summary')]), goOn, answer('msg_6', 'msg_5', { finish: 'stop' }, [said('end')])))
      .toMatchObject({ end: { outcome: 'completed', text: 'end' } })
  })
})
