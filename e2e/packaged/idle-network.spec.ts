import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:net'
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

test('an app that is left alone holds no socket but on loopback, and starts neither proxy nor model', async ({ app }) => {
  test.setTimeout(idleMs + 90_000)
  await expect(app.window.getByRole('button', { name: 'Run the sample task' })).toBeEnabled()
  for (let waited = 0; waited < idleMs; waited += everyMs) {
    const processes = processesOf(app.ownerFolder)
    expect(processes.length).toBeGreaterThan(3)
    expect(processes.filter(({ command }) => /Countersign (model proxy|demo model)|(proxy|demo)\.js/.test(command)).map(({ command }) => command)).toEqual([])
    expect(internetSockets(processes.map(({ pid }) => pid)).filter((socket) => !loopback.test(socket))).toEqual([])
    await app.window.waitForTimeout(everyMs)
  }
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
