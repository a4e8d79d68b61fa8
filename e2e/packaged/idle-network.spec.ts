import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { processesOf } from '../processes.ts'

/** So long the app is left alone. A look of ten minutes: `COUNTERSIGN_IDLE_MS=600000 npm run e2e -- idle-network`. */
const idleMs = Number(process.env['COUNTERSIGN_IDLE_MS'] ?? 20_000)
const everyMs = 100

/** Sockets of the internet that these processes hold: local and remote address, as /proc/net lists them (proc(5)). */
function internetSockets(pids: readonly number[]): readonly string[] {
  const held = new Set(pids.flatMap(socketsOf))
  return ['tcp', 'tcp6', 'udp', 'udp6', 'raw', 'raw6'].flatMap((kind) => readFileSync(`/proc/net/${kind}`, 'utf8').split('\n').slice(1).flatMap((line) => {
    const [, local, remote, , , , , , , inode] = line.trim().split(/\s+/)
    return inode !== undefined && held.has(inode) ? [`${kind} ${local} ${remote}`] : []
  }))
}

function socketsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try { return [/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? ''] } catch { return [] } // Closed meanwhile.
    })
  } catch {
    return [] // Ended meanwhile.
  }
}

/** 127.0.0.0/8, ::1, and 127.0.0.1 as IPv6, in the byte order of /proc/net. A socket on any other address, also one that only listens, is told. */
const loopback = /^(tcp|udp)6? ([0-9A-F]{6}7F|00000000000000000000000001000000|0000000000000000FFFF00000100007F):/

/**
 * What left or tried to leave this network namespace, as its kernel counts it: calls for which there was no way out (there is none but loopback, so
 * every connect or send to anywhere, over in microseconds and seen by no look at open sockets) and datagrams, which also a question to a name server
 * on loopback is. Tests and screen are in the same namespace and send neither.
 */
function attempts(): Readonly<Record<string, number>> {
  const lines = readFileSync('/proc/net/snmp', 'utf8').split('\n').map((line) => line.split(/\s+/))
  const v4 = (protocol: string, counter: string): number => {
    const [names = [], values = []] = lines.filter(([first]) => first === `${protocol}:`)
    return known(values[names.indexOf(counter)])
  }
  // A kernel without IPv6 has neither the file nor such sockets.
  const text = existsSync('/proc/net/snmp6') ? readFileSync('/proc/net/snmp6', 'utf8') : null
  const v6 = (counter: string): number => (text === null ? 0 : known(new RegExp(`^${counter}\\s+(\\d+)$`, 'm').exec(text)?.[1]))
  return { noWayOut: v4('Ip', 'OutNoRoutes'), noWayOut6: v6('Ip6OutNoRoutes'), datagrams: v4('Udp', 'OutDatagrams'), datagrams6: v6('Udp6OutDatagrams') }
}

function known(counter: string | undefined): number {
  if (counter === undefined) throw new Error('the kernel does not count what the check rests on')
  return Number(counter)
}

test('an app that is started and left alone tries to reach nothing, holds no socket but on loopback, and starts neither proxy nor model', async () => {
  test.setTimeout(idleMs + 90_000)
  const before = attempts()
  const app = await App.launch()
  await expect(app.window.getByRole('button', { name: 'Run the sample task' })).toBeEnabled()
  const until = performance.now() + idleMs
  let looks = 0
  for (; performance.now() < until; looks += 1) {
    const processes = processesOf(app.ownerFolder)
    expect(processes.length).toBeGreaterThan(3)
    // By their kind, as canary.spec sees them in an app that works: their command line names neither them nor their file.
    expect(processes.filter(({ command }) => command.includes('node.mojom.NodeService')).map(({ command }) => command)).toEqual([])
    expect(internetSockets(processes.map(({ pid }) => pid)).filter((socket) => !loopback.test(socket))).toEqual([])
    expect(attempts()).toEqual(before)
    await app.window.waitForTimeout(everyMs)
  }
  await app.close()
  expect(attempts()).toEqual(before)
  console.log(`idle for ${(idleMs / 1000).toString()} s and closed: ${looks.toString()} looks, no socket but on loopback, counters as before the start: ${JSON.stringify(before)}`)
})

test('the check itself sees a socket that is open to anywhere', async () => {
  const server = createServer().listen(0, '0.0.0.0')
  await once(server, 'listening')
  try {
    expect(internetSockets([process.pid]).filter((socket) => !loopback.test(socket))).not.toEqual([])
  } finally {
    server.close()
  }
})

test('the check itself sees calls that fail at once: a connection, a datagram, a question to a name server on loopback', async () => {
  const before = attempts()
  const connection = connect(443, '192.0.2.1')
  await once(connection, 'error')
  expect(attempts()).toMatchObject({ noWayOut: (before['noWayOut'] ?? 0) + 1 })
  const socket = createSocket('udp4')
  const sent = (address: string): Promise<unknown> => new Promise((resolve) => { socket.send('x', 53, address, resolve) })
  expect(await sent('192.0.2.1')).toMatchObject({ code: 'ENETUNREACH' })
  expect(attempts()).toMatchObject({ noWayOut: (before['noWayOut'] ?? 0) + 2, datagrams: before['datagrams'] })
  await sent('127.0.0.1')
  expect(attempts()).toMatchObject({ datagrams: (before['datagrams'] ?? 0) + 1 })
  socket.close()
})
