import type { ServerResponse } from 'node:http'
import { errorBody, type Refusal } from './errors.ts'

/** Answers with an error of the proxy's own; does nothing when an answer has begun or the client has gone. */
export function answer(response: ServerResponse, refused: Refusal): void {
  answerJson(response, refused.status, errorBody(refused))
}

/** Answers with JSON. Every answer names a serving path; the proxy's own are of the only path there is yet. */
export function answerJson(response: ServerResponse, status: number, body: string): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), 'cache-control': 'no-store', 'x-muse-proxy-path': 'direct' })
  response.end(body)
}
