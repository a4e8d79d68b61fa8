import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultSandboxLimits } from '../../../src-preload/contract/limits.ts'
import type { VendorProcess, VendorSandbox, VendorSpec } from '../../engine/ports.ts'
import { openCodeBinary } from './sandbox.suite.ts'
import { createVendorSandbox } from './vendor-sandbox.ts'

let dir: string
let sandbox: VendorSandbox
let egress: Server
let launched: VendorProcess[]

beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'vst-')))
  for (const name of ['home', 'egress', 'tool']) mkdirSync(join(dir, name))
  egress = createServer((_request, response) => { response.end('from the way out') }).listen(join(dir, 'egress/way.sock'))
  sandbox = createVendorSandbox({ runRoot: join(dir, 'run'), openCodeBinary: () => openCodeBinary, limits: () => defaultSandboxLimits, clock: { now: () => Date.now() } })
  launched = []
})
afterEach(async () => {
  await Promise.all(launched.map((one) => one.stop()))
  egress.closeAllConnections()
  egress.close()
  rmSync(dir, { recursive: true, force: true })
})

/** A program of this text, in the folder that is shown inside. */
function program(text: string): string {
  const path = join(dir, 'tool/muse')
  writeFileSync(path, text)
  chmodSync(path, 0o755)
  return path
}

async function start(change: Partial<VendorSpec>): Promise<VendorProcess> {
  const result = await launch(change)
  if (!result.ok) throw new Error(`${result.error.message} ${result.error.todo}`)
  launched.push(result.value)
  return result.value
}

function launch(change: Partial<VendorSpec>, signal = new AbortController().signal): ReturnType<VendorSandbox['launch']> {
  return sandbox.launch({
    label: 'Muse', programPath: join(dir, 'tool/muse'), args: [], homeDir: join(dir, 'home'), readOnlyDirs: [], prompt: null, serves: false, egressSocketPath: join(dir, 'egress/way.sock'), outputBytesMax: 10_000, ...change,
  }, signal)
}

const server = `#!/usr/bin/node
const fs = require('fs')
const port = Number(process.argv[process.argv.indexOf('--port') + 1])
require('http').createServer((request, response) => {
  let body = ''
  request.on('data', (piece) => { body += piece }).on('end', async () => {
    try { response.end(JSON.stringify({ value: await eval('(async () => {' + body + '})()') })) } catch (error) { response.end(JSON.stringify({ error: String(error) })) }
  })
}).listen(port, '127.0.0.1')
`

async function ask(socketPath: string | null, code: string): Promise<unknown> {
  for (;;) {
    try {
      const sent = request({ socketPath: socketPath ?? '', method: 'POST', path: '/', agent: false })
      sent.end(code)
      const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer>]
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      const answer = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { value?: unknown; error?: string }
      if (answer.error !== undefined) throw new Error(`inside: ${answer.error}`)
      return answer.value
    } catch (error) {
      // Not listening yet.
      if (!(error instanceof Error && 'code' in error)) throw error
    }
  }
}

describe('a vendor’s program in its sandbox', () => {
  test('answers one prompt from its file and is gone', async () => {
    program('#!/bin/sh\nprintf "%s|" "$@"; cat "$2"; echo complaint >&2; exit 4\n')
    const one = await start({ args: ['--prompt-file', '{promptFile}'], prompt: 'Grüße 😀\n$(id) `id`' })
    expect(await one.ended).toEqual({ exitCode: 4, text: '--prompt-file|/run/app/prompt.txt|Grüße 😀\n$(id) `id`', lastWords: 'complaint\n', limitHit: null })
    expect(await one.stop()).toMatchObject({ method: 'pid-namespace-empty' })
    expect(readdirSync(join(dir, 'run'))).toEqual([])
  })

  test('serves behind a socket of the host, keeps its home, and is stopped with all it started', async () => {
    program(server)
    const one = await start({ args: ['serve', '--port', '{port}'], serves: true })
    expect(await ask(one.socketPath, 'fs.writeFileSync(process.env.HOME + "/login", "x"); require("child_process").spawn("setsid", ["sleep", "600"], { detached: true }); return process.cwd()')).toBe('/workspace')
    expect(await one.stop()).toMatchObject({ method: 'pid-namespace-empty' })
    expect(existsSync(join(dir, 'home/login'))).toBe(true)
    expect(await one.ended).toMatchObject({ limitHit: null })
  })

  test('has one way out and nothing else of this machine', async () => {
    program(server)
    const other = createTcpServer((socket) => { socket.end('reached') }).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const port = String((other.address() as { port: number }).port)
    process.env['CANARY_SECRET'] = 'canary-77'
    const one = await start({ args: ['serve', '--port', '{port}'], serves: true })
    delete process.env['CANARY_SECRET']
    expect(await ask(one.socketPath, `return fetch(process.env.HTTPS_PROXY).then((reply) => reply.text())`)).toBe('from the way out')
    expect(await ask(one.socketPath, `return Promise.all(['http://127.0.0.1:${port}', 'http://192.0.2.1/'].map((url) => fetch(url).then(() => 'reached', () => 'blocked')))`)).toEqual(['blocked', 'blocked'])
    expect(await ask(one.socketPath, `return ['/root/.ssh', '/etc/shadow', '${dir}/run', '${dir}/home', '/run/app/broker.sock', '/opt/tools'].filter((path) => fs.existsSync(path))`)).toEqual([])
    expect(await ask(one.socketPath, `return ['/usr/x', '/etc/x', '/opt/app/x', '${dir}/tool/muse', '/proc/sys/kernel/core_pattern'].filter((path) => { try { fs.writeFileSync(path, 'x'); return true } catch { return false } })`)).toEqual([])
    expect(await ask(one.socketPath, 'return Object.entries(process.env).flat().join(" ")')).not.toContain('canary')
    other.close()
  })

  test('runs what stands outside /usr, with the folders that the owner names', async () => {
    mkdirSync(join(dir, 'runtime/bin'), { recursive: true })
    writeFileSync(join(dir, 'runtime/bin/musert'), '#!/bin/sh\necho "ran $1"\n', { mode: 0o755 })
    program('#!/usr/bin/env musert\n')
    expect(await (await start({})).ended).toMatchObject({ exitCode: 127 })
    expect(await (await start({ readOnlyDirs: [join(dir, 'runtime')] })).ended).toMatchObject({ exitCode: 0, text: `ran ${join(dir, 'tool/muse')}\n` })
  })

  test('is ended when it prints more than is kept', async () => {
    program('#!/bin/sh\nyes\n')
    const { exitCode, text, limitHit } = await (await start({})).ended
    expect({ exitCode, short: text.length <= 10_000, limitHit }).toEqual({ exitCode: null, short: true, limitHit: 'printed more than 10000 bytes' })
  })

  test('is ended by its signal', async () => {
    program('#!/bin/sh\nsleep 600\n')
    const abort = new AbortController()
    const result = await launch({}, abort.signal)
    if (!result.ok) throw new Error(result.error.message)
    abort.abort()
    expect(await result.value.ended).toMatchObject({ text: '' })
  })

  test('is refused the owner’s home, and what is not there', async () => {
    program('#!/bin/sh\n')
    expect(await launch({ homeDir: homedir() })).toMatchObject({ ok: false, error: { code: 'folder-refused' } })
    expect(await launch({ readOnlyDirs: [homedir()] })).toMatchObject({ ok: false, error: { code: 'folder-refused' } })
    expect(await launch({ readOnlyDirs: ['/etc'] })).toMatchObject({ ok: false, error: { code: 'folder-refused' } })
    expect(await launch({ programPath: join(dir, 'nothing') })).toMatchObject({ ok: false, error: { code: 'unavailable' } })
    expect(await launch({ homeDir: join(dir, 'nothing') })).toMatchObject({ ok: false, error: { code: 'sandbox-failed' } })
  })

  test('says why a server did not come up', async () => {
    program('#!/bin/sh\necho "not logged in" >&2; exit 1\n')
    const result = await launch({ serves: true })
    // The bridge's socket may be there before the program has ended.
    if (result.ok) expect(await result.value.ended).toMatchObject({ exitCode: 1, lastWords: expect.stringContaining('not logged in') as string })
    else expect(result.error.message).toContain('not logged in')
  })
})
