import { createServer, type Server } from 'node:net'

/** Has a server listen on a port of the loopback that the system chooses; resolves to the port. */
export async function listening(server: Server): Promise<number> {
  await new Promise<void>((done, fail) => { server.once('error', fail); server.listen(0, '127.0.0.1', done) })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a listening server has a port')
  return address.port
}

/** A port of the loopback that nobody listens on at this moment. Who takes it meanwhile makes the launch fail. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listening(server)
  await new Promise((done) => { server.close(done) })
  return port
}
