import { execFile, execFileSync, type ChildProcess, spawn } from 'node:child_process'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** What a probe may try to reach: things of this host that are really there, so that a probe outside of a sandbox does reach them. */
export interface Ground {
  readonly dir: string
  readonly secret: string
  readonly tcpPort: number
  /** Null where this machine has no IPv6 loopback. */
  readonly tcp6Port: number | null
  readonly udpPort: number
  readonly abstractName: string
  readonly unixPath: string
  readonly tmpFile: string
  readonly shmFile: string
  /** Key of a System V shared memory segment. */
  readonly shmKey: number
  /** A process of the host that only sleeps, with the secret in its environment. */
  readonly hostPid: number
  readonly heardByUdp: readonly string[]
  close(): Promise<void>
}

const execute = promisify(execFile)

async function listen(server: Server, where: { readonly port: number; readonly host: string } | { readonly path: string }): Promise<boolean> {
  return new Promise((done) => { server.once('error', () => { done(false) }); server.listen(where, () => { done(true) }) })
}

/** Lays all of it out; `close` takes it away. */
export async function layGround(): Promise<Ground> {
  const dir = await mkdtemp(join(tmpdir(), 'ipg-'))
  const secret = `canary-${dir.slice(-6)}-9f27`
  const [unixPath, abstractName] = [join(dir, 'host.sock'), `\0probe-${dir.slice(-6)}`]
  const server = (): Server => createServer((socket) => { socket.on('error', () => undefined).end(secret) })
  const [tcp, tcp6, unix, abstract] = [server(), server(), server(), server()]
  await Promise.all([listen(tcp, { port: 0, host: '127.0.0.1' }), listen(unix, { path: unixPath }), listen(abstract, { path: abstractName })])
  const has6 = await listen(tcp6, { port: 0, host: '::1' })
  const udp: Socket = createSocket('udp4')
  const heard: string[] = []
  udp.on('message', (message) => heard.push(message.toString())).bind(0, '127.0.0.1')
  await once(udp, 'listening')
  await mkdir(join(dir, 'owner/.ssh'), { recursive: true })
  await writeFile(join(dir, 'owner/.ssh/id_fake'), secret)
  const name = `ipg-file-${dir.slice(-6)}`
  const [tmpFile, shmFile] = [join('/tmp', name), join('/dev/shm', name)]
  await Promise.all([writeFile(tmpFile, secret), writeFile(shmFile, secret)])
  const shmKey = 1_000_000 + Math.floor(Math.random() * 1e9)
  const shmId = execFileSync('perl', ['-e', `print shmget(${String(shmKey)}, 4096, 0600 | 01000)`], { encoding: 'utf8' })
  const sleeper: ChildProcess = spawn('sleep', ['987001'], { stdio: 'ignore', env: { PATH: process.env['PATH'], PROBE_SECRET: secret } })
  const portOf = (of: Server): number => (of.address() as { port: number }).port
  return {
    dir, secret, unixPath, abstractName, tmpFile, shmFile, shmKey, heardByUdp: heard, tcpPort: portOf(tcp), tcp6Port: has6 ? portOf(tcp6) : null, udpPort: udp.address().port, hostPid: sleeper.pid ?? 0,
    async close() {
      sleeper.kill()
      udp.close()
      for (const open of [tcp, tcp6, unix, abstract]) open.close()
      await execute('perl', ['-e', `shmctl(${shmId}, 0, 0)`])
      await Promise.all([dir, tmpFile, shmFile].map((path) => rm(path, { recursive: true, force: true })))
    },
  }
}
