// A model vendor for build/bench/proxy.ts, as a process of its own: answers small, streams `events` events as fast as they are taken, or holds a stream open.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Asked { readonly events?: number; readonly hold?: boolean }

const event = Buffer.from(`data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, delta: { content: ' word' }, finish_reason: null }] })}\n\n`)
const last = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1 } })}\n\ndata: [DONE]\n\n`
const small = JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', model: 'bench', choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(600) }, finish_reason: 'stop' }], usage: { prompt_tokens: 10, completion_tokens: 100 } })

function stream(response: ServerResponse, events: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  let left = events
  // One write an event, as models' servers do; the rest waits while nobody takes.
  const pump = (): void => {
    for (let burst = 0; burst < 50 && left > 0; burst += 1) {
      left -= 1
      if (!response.write(event)) { response.once('drain', pump); return }
    }
    if (left > 0) setImmediate(pump)
    else response.end(last)
  }
  pump()
}

const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (piece: string) => { body += piece }).on('end', () => {
    const asked = JSON.parse(body) as Asked
    if (asked.hold === true) { response.writeHead(200, { 'content-type': 'text/event-stream' }); response.write(event) }
    else if (asked.events !== undefined) stream(response, asked.events)
    else response.writeHead(200, { 'content-type': 'application/json', 'content-length': small.length }).end(small)
  })
})
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => { process.send?.({ port: (server.address() as AddressInfo).port }) })
process.on('disconnect', () => { process.exit(0) })
