// A model vendor for build/bench/proxy.ts, as a process of its own and as cheap as can be, so that what is measured is the way to it: answers small, streams `events` events as fast as they are taken, or holds a stream open.
import { createServer, type AddressInfo, type Socket } from 'node:net'

interface Asked { readonly events?: number; readonly hold?: boolean }

const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const event = `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, delta: { content: ' word' }, finish_reason: null }] })}\n\n`
const last = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1 } })}\n\ndata: [DONE]\n\n`
const small = JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', model: 'bench', choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(600) }, finish_reason: 'stop' }], usage: { prompt_tokens: 10, completion_tokens: 100 } })

// With the fields that vendors send; each names its request, so that no two heads in a row are the same.
const smallReplies = Array.from({ length: 97 }, (_, at) => Buffer.from(`HTTP/1.1 200 OK\r\nDate: Mon, 30 Nov 2026 12:00:00 GMT\r\nContent-Type: application/json\r\nContent-Length: ${String(Buffer.byteLength(small))}\r\nx-request-id: req_${String(1_000 + at)}\r\nx-ratelimit-remaining-requests: ${String(9_999 - at)}\r\n\r\n${small}`))
let answered = 0
const streamHead = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
// An event is a chunk, as models' servers send them; sixteen of them a write, as they meet in a busy socket.
const burstEvents = 16
const burst = Buffer.from(chunk(event).repeat(burstEvents))

function stream(socket: Socket, events: number): void {
  socket.write(streamHead)
  let left = events
  const pump = (): void => {
    while (left > 0) {
      const whole = left >= burstEvents
      left -= whole ? burstEvents : left
      if (!socket.write(whole ? burst : chunk(event))) { socket.once('drain', pump); return }
    }
    socket.write(`${chunk(last)}0\r\n\r\n`)
  }
  pump()
}

function answer(socket: Socket, body: string): void {
  const asked = JSON.parse(body) as Asked
  if (asked.hold === true) socket.write(streamHead + chunk(event))
  else if (asked.events !== undefined) stream(socket, asked.events)
  else socket.write(smallReplies[answered++ % smallReplies.length] ?? '')
}

const server = createServer({ noDelay: true }, (socket) => {
  let read = ''
  socket.on('error', () => undefined).on('data', (bytes: Buffer) => {
    read += bytes.toString('latin1')
    const end = read.indexOf('\r\n\r\n')
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(read)?.[1] ?? 0)
    if (end < 0 || read.length < end + 4 + length) return
    const body = read.slice(end + 4, end + 4 + length)
    read = ''
    answer(socket, body)
  })
})
server.listen(0, '127.0.0.1', () => { process.send?.({ port: (server.address() as AddressInfo).port }) })
process.on('disconnect', () => { process.exit(0) })
