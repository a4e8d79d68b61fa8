import type { ServerResponse } from 'node:http'
import type { ServingPath } from '../../src-preload/contract/task.ts'
import { errorBody, type Refusal } from './errors.ts'

/** Answers with an error of the proxy's own; does nothing when an answer has begun or the client has gone. */
export function answer(response: ServerResponse, refused: Refusal, path: ServingPath = 'direct'): void {
  answerJson(response, refused.status, errorBody(refused), path)
}

/** Answers with JSON. Every answer names a serving path: the last one that was tried, direct where none was. */
export function answerJson(response: ServerResponse, status: number, body: string, path: ServingPath = 'direct'): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), 'cache-control': 'no-store', 'x-muse-proxy-path': path })
  response.end(body)
}
