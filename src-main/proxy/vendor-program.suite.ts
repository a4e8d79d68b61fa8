import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VendorCli } from '../../src-preload/contract/settings.ts'
import { releaseLater } from './proxy.suite.ts'

/** How the stub behaves, one a path. `dies`: after `half` of its answer. `exit`: an exit code without a word. */
export interface StubVendor { readonly serve?: 'answers' | 'refuses' | 'dies' | 'dies-late' | 'errors-late' | 'calls-a-tool' | 'calls-a-function' | 'calls-none' | 'ends-for-tools' | 'ends-for-a-function' | 'ends-oddly' | 'says-nothing' | 'calls-late' | 'ends-late-for-tools' | 'no-usage' | 'hangs' | 'never-listens'; readonly exec?: 'answers' | 'exit' | 'silent' | 'hangs' | 'half-then-exit' }

/** One line of the stub's log: it writes one at each start and one at each request that reaches it. */
export interface StubLine { readonly did: 'start' | 'request' | 'end'; readonly args: readonly string[]; readonly cwd: string; readonly env: readonly string[]; readonly body?: Record<string, unknown>; readonly headers?: Record<string, string>; readonly prompt?: string; readonly pid: number }

/**
 * A vendor's program that can `serve` and `exec`, as a script of its own: its log proves what was started and what was not.
 * `answer`: what both say.
 */
export const stubAnswer = 'Grüße 😀 from the vendor’s program'

export function stubProgram(behaviour: StubVendor = {}, folder = mkdtempSync(join(tmpdir(), 'cs-stub-'))): { readonly cli: VendorCli; readonly folder: string; readonly logPath: string; readonly log: () => readonly StubLine[]; readonly starts: () => readonly string[] } {
  releaseLater(() => { rmSync(folder, { recursive: true, force: true }) })
  const program = join(folder, 'muse')
  const logPath = join(folder, 'muse.log')
  writeFileSync(program, script(behaviour))
  chmodSync(program, 0o755)
  const log = (): readonly StubLine[] => (existsSync(logPath) ? readFileSync(logPath, 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as StubLine) : [])
  return {
    folder, logPath, log, starts: () => log().filter(({ did }) => did === 'start').map(({ args }) => args[0] ?? ''),
    cli: {
      label: 'Muse', program, serveArgs: ['serve', '--port', '{port}'], execArgs: ['exec', '--approval-mode', 'never', '--prompt-file', '{promptFile}'],
      homeFolder: folder, folders: [], hosts: [],
    },
  }
}

/** Whether a process runs. One that has ended and was not yet collected does not. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}

function script(behaviour: StubVendor): string {
  return `#!${process.execPath}
const fs = require('fs'), http = require('http'), path = require('path')
const behaviour = ${JSON.stringify(behaviour)}, answer = ${JSON.stringify(stubAnswer)}
const args = process.argv.slice(2)
const log = (did, more) => fs.appendFileSync(path.join(process.env.HOME, 'muse.log'), JSON.stringify({ did, args, cwd: process.cwd(), env: Object.keys(process.env), pid: process.pid, ...more }) + '\\n')
const chunk = (delta, finish = null, more = {}) => 'data: ' + JSON.stringify({ id: 'w', object: 'chat.completion.chunk', model: 'muse-2026', choices: [{ index: 0, delta, finish_reason: finish }], ...more }) + '\\n\\n'
// What stands for the answer of a behaviour: a message, and why it ended.
const odd = {
  'calls-a-tool': [{ role: 'assistant', tool_calls: [{ index: 0, id: 'x', type: 'function', function: { name: 'write', arguments: '{}' } }] }, 'stop'],
  'calls-a-function': [{ role: 'assistant', content: 'I call', function_call: { name: 'write', arguments: '{}' } }, 'stop'],
  'calls-none': [{ role: 'assistant', content: answer, tool_calls: [], function_call: null }, 'length'],
  'ends-for-tools': [{ role: 'assistant', content: 'I call' }, 'tool_calls'], 'ends-for-a-function': [{ role: 'assistant', content: 'I call' }, 'function_call'], 'ends-oddly': [{ role: 'assistant', content: 'I' }, 'pause_turn'],
  'says-nothing': [{ role: 'assistant', content: '' }, 'stop'],
}
const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }
if (args[0] === 'exec') {
  const prompt = fs.readFileSync(args[args.indexOf('--prompt-file') + 1], 'utf8')
  log('start', { prompt })
  if (behaviour.exec === 'exit') { console.error('not logged in'); process.exit(3) }
  if (behaviour.exec === 'hangs') setInterval(() => undefined, 1000)
  else if (behaviour.exec === 'half-then-exit') { process.stdout.write(answer.slice(0, 5)); process.exitCode = 1 }
  else if (behaviour.exec !== 'silent') process.stdout.write(answer + '\\n')
} else {
  log('start')
  const serve = behaviour.serve ?? 'answers'
  const server = http.createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (piece) => { text += piece }).on('end', () => {
      if (request.method !== 'POST') { response.writeHead(404).end(); return }
      const body = JSON.parse(text)
      log('request', { body, headers: request.headers })
      response.on('close', () => log('end'))
      if (serve === 'hangs') return
      if (serve === 'refuses') { response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: 'not logged in' } })); return }
      if (serve === 'dies') { request.socket.destroy(); return }
      if (!body.stream) {
        if (serve === 'dies-late' || serve === 'errors-late') { response.writeHead(200, { 'content-type': 'application/json', 'content-length': 500 }); response.write('{"choices"', () => request.socket.destroy()); return }
        const [message, finish_reason] = odd[serve] ?? [{ role: 'assistant', content: answer }, 'stop']
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'w', object: 'chat.completion', model: 'muse-2026', choices: [{ index: 0, message, finish_reason }], ...(serve === 'no-usage' ? {} : { usage }) }))
        return
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (odd[serve]) { response.end(chunk(odd[serve][0]) + chunk({}, odd[serve][1]) + 'data: [DONE]\\n\\n'); return }
      const half = Math.floor(answer.length / 2)
      response.write(chunk({ role: 'assistant', content: answer.slice(0, half) }), () => setTimeout(() => {
        if (serve === 'dies-late') { request.socket.destroy(); return }
        if (serve === 'calls-late') { response.end(chunk({ function_call: { name: 'write', arguments: '{}' } }) + chunk({}, 'stop') + 'data: [DONE]\\n\\n'); return }
        if (serve === 'ends-late-for-tools') { response.end(chunk({}, 'tool_calls') + 'data: [DONE]\\n\\n'); return }
        if (serve === 'errors-late') { response.end('data: ' + JSON.stringify({ error: { message: 'the session has ended' } }) + '\\n\\n'); return }
        response.end(chunk({ content: answer.slice(half) }) + chunk({}, 'stop', serve === 'no-usage' ? {} : { usage }) + 'data: [DONE]\\n\\n')
      }, 20))
    })
  })
  if (serve === 'never-listens') setInterval(() => undefined, 1000)
  else server.listen(Number(args[args.indexOf('--port') + 1]), '127.0.0.1')
}
`
}
