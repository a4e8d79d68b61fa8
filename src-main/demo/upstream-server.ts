import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { limits } from '../../src-preload/contract/limits.ts'
import { chatConversation, chatRequestSchema, responsesConversation, responsesRequestSchema, type Conversation } from './conversation.ts'
import { chatBody, streamChat } from './chat-wire.ts'
import { responseOf, streamResponses } from './responses-wire.ts'
import { scriptedReply } from './script/model.ts'
import { StreamWriter } from './stream-writer.ts'
import { wireReply } from './wire-reply.ts'

export interface DemoUpstream { readonly port: number; close(): void }

/**
 * Starts the demo provider on a loopback port, on a free one where the preferred one is taken (0: any): POST /v1/chat/completions, POST /v1/responses, GET /v1/models.
 * `holdMs` > 0 holds the arguments of each file-writing call half-way for that long.
 */
export async function startDemoUpstream(holdMs: number, preferredPort = 0): Promise<DemoUpstream> {
  const server = createServer((request, response) => {
    serve(request, response, holdMs).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else refuse(response, 500, error instanceof Error ? error.message : 'unknown fault')
    })
  })
  const listen = (port: number): Promise<void> => new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => { server.off('error', reject); resolve() })
  })
  await listen(preferredPort).catch((error: unknown) => {
    if (preferredPort === 0 || !(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
    return listen(0)
  })
  return { port: (server.address() as AddressInfo).port, close: () => close(server) }
}

async function serve(request: IncomingMessage, response: ServerResponse, holdMs: number): Promise<void> {
  // A page in a browser has no business here.
  if (request.headers.origin !== undefined || !/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? '')) { refuse(response, 403, 'Only for this machine’s own programs.'); return }
  if (request.method === 'GET' && request.url === '/v1/models') { sendJson(response, 200, { object: 'list', data: [{ id: 'demo', object: 'model', created: 0, owned_by: 'countersign' }] }); return }
  const api = request.url === '/v1/chat/completions' ? 'chat' : request.url === '/v1/responses' ? 'responses' : null
  if (request.method !== 'POST' || api === null) { refuse(response, 404, 'There is no such route.'); return }
  const body = await readJson(request)
  const conversation = body === null ? null : conversationOf(api, body)
  if (conversation === null) { refuse(response, 400, 'The request body is not one that this API takes.'); return }
  const reply = wireReply(conversation, scriptedReply(conversation))
  if (!conversation.stream) { sendJson(response, 200, api === 'chat' ? chatBody(reply) : responseOf(reply, 'completed')); return }
  await (api === 'chat' ? streamChat : streamResponses)(reply, new StreamWriter(response), holdMs)
}

function conversationOf(api: 'chat' | 'responses', body: unknown): Conversation | null {
  if (api === 'chat') {
    const parsed = chatRequestSchema.safeParse(body)
    return parsed.success ? chatConversation(parsed.data) : null
  }
  const parsed = responsesRequestSchema.safeParse(body)
  return parsed.success ? responsesConversation(parsed.data) : null
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > limits.proxyBodyBytesMax) return null
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, { error: { message, type: 'invalid_request_error', code: null, param: null } })
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function close(server: Server): void {
  server.close()
  server.closeAllConnections()
}
