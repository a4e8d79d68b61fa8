import type { ServingPath } from '../../src-preload/contract/task.ts'
import { errorBody, type Refusal } from './errors.ts'
import type { Reply } from './http1/reply.ts'

/** Answers with an error of the proxy's own; does nothing when an answer has begun or the client has gone. */
export function answer(reply: Reply, refused: Refusal, path: ServingPath = 'direct'): void {
  answerJson(reply, refused.status, errorBody(refused), path)
}

/** Answers with JSON. Every answer names a serving path: the last one that was tried, direct where none was. */
export function answerJson(reply: Reply, status: number, body: string, path: ServingPath = 'direct'): void {
  if (reply.begun || reply.gone) return
  const bytes = Buffer.from(body, 'utf8')
  reply.begin(status, [['content-type', 'application/json'], ['content-length', bytes.length], ['cache-control', 'no-store'], ['x-muse-proxy-path', path]])
  reply.end(bytes)
}
