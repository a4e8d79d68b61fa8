// What Node's own HTTP server and client cost when they only hand a request on, without a check, a count or a word to anybody: the floor for build/bench/proxy.ts.
import { createServer, request, Agent } from 'node:http'
import type { AddressInfo } from 'node:net'

const upstreamPort = Number(process.argv[2])
const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
const server = createServer((asked, response) => {
  const chunks: Buffer[] = []
  asked.on('data', (chunk: Buffer) => { chunks.push(chunk) }).on('end', () => {
    const body = Buffer.concat(chunks)
    const sent = request({ host: '127.0.0.1', port: upstreamPort, agent, method: 'POST', path: asked.url, headers: { 'content-type': 'application/json', 'content-length': body.length } }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(response)
    })
    sent.on('error', () => { response.destroy() })
    sent.end(body)
  })
})
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => { process.send?.({ port: (server.address() as AddressInfo).port }) })
process.on('disconnect', () => { process.exit(0) })
