/*
 * What stands in for a server in the sandbox of a task that is driven by `opencode run`: it starts one OpenCode at a time, as the host says
 * over the control socket, and makes sure that nothing of it is left when it has ended. It runs on OpenCode's own binary as Bun, without
 * the workspace's `bunfig.toml` and `.env`, and gives OpenCode the environment of the order and nothing of its own.
 */

/** Where the runner and the observer are inside the sandbox: read-only, and of no folder that a tool may write to. */
export const insideFiles = { runner: '/opt/countersign/runner.js', observer: '/opt/countersign/observer.mjs' } as const

/** Name of the environment variable that holds the runner's password. */
export const runnerPasswordVariable = 'RUNNER_PASSWORD'

/** While OpenCode says nothing the runner says an empty line this often, at the start of a line only: a broken stream shows. */
export const heartbeatMs = 10_000

/** Characters of what OpenCode wrote to stderr that are kept. */
const wordsCharsMax = 4_000

/** How long a killed process may take to be gone before the runner says so and goes on. */
const goneWithinMs = 10_000

/**
 * Routes, all with Basic auth: `POST /run` {args, env, folder, files, input} → {run}; 409 while one runs. `GET /run/N/output`: OpenCode's
 * stdout; ends when OpenCode has ended and nobody is left of it. `GET /run/N/end` → {code, signal, words, left}. `POST /run/N/kill`.
 */
export const runnerScript = `'use strict'
const http = require('http'), fs = require('fs'), { spawn } = require('child_process')
const [port, command] = process.argv.slice(2)
const expected = 'Basic ' + Buffer.from('opencode:' + process.env.${runnerPasswordVariable}).toString('base64')
let last = null, count = 0

// Everybody in this process namespace but its first process, the bridge and ourselves belongs to the run.
function others() {
  const spared = new Set([1, process.pid, process.ppid])
  return fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).map(Number).filter((pid) => {
    if (spared.has(pid)) return false
    // Gone since it was listed, or else counted: nobody is said to be gone who was not looked at.
    try { return !/^State:\\s*[ZX]/m.test(fs.readFileSync('/proc/' + pid + '/status', 'latin1')) } catch (error) { return error.code !== 'ENOENT' && error.code !== 'ESRCH' }
  })
}
async function endOthers() {
  for (const end = Date.now() + ${goneWithinMs}; ;) {
    const left = others()
    if (left.length === 0 || Date.now() > end) return left.length
    for (const pid of left) {
      // Gone meanwhile, or not to be killed: who is still there at the next look is counted, and the host is told the number.
      try { process.kill(pid, 'SIGKILL') } catch (error) { if (error.code !== 'ESRCH' && error.code !== 'EPERM') throw error }
    }
    await new Promise((done) => setTimeout(done, 10))
  }
}
function start(order) {
  fs.mkdirSync(order.folder, { mode: 0o700 })
  for (const [name, text] of Object.entries(order.files)) fs.writeFileSync(order.folder + '/' + name, text, { flag: 'wx', mode: 0o600 })
  const child = spawn(command, order.args, { cwd: '/workspace', env: order.env, stdio: ['pipe', 'pipe', 'pipe'] })
  const run = { id: String(++count), child, words: '', lineStart: true, read: false, end: null }
  // One that ends before it has read its input breaks this pipe; its exit and its last words tell.
  child.stdin.on('error', () => undefined)
  child.stdin.end(order.input)
  child.stderr.setEncoding('utf8').on('data', (text) => { run.words = (run.words + text).slice(-${wordsCharsMax}) })
  const exited = new Promise((done) => {
    child.on('error', (error) => { run.words += error.message; done({ code: null, signal: null }) })
    child.on('exit', (code, signal) => done({ code, signal }))
  })
  const closed = new Promise((done) => { child.on('close', done); child.on('error', done) })
  run.over = exited.then(async (how) => {
    const left = await endOthers()
    fs.rmSync(order.folder, { recursive: true, force: true })
    run.words = run.words.slice(-${wordsCharsMax})
    run.exited = { ...how, left }
  })
  run.whole = Promise.all([run.over, closed]).then(() => { run.end = { ...run.exited, words: run.words } })
  return run
}
async function output(run, response) {
  run.read = true
  const { stdout } = run.child
  const beat = setInterval(() => { if (run.lineStart) response.write('\\n') }, ${heartbeatMs})
  // The first byte of an answer goes out with its head.
  response.writeHead(200, { 'content-type': 'application/x-ndjson' }).write('\\n')
  response.on('close', () => { if (run.end === null) run.child.kill('SIGKILL') })
  stdout.on('data', (bytes) => {
    run.lineStart = bytes[bytes.length - 1] === 10
    if (response.write(bytes)) return
    stdout.pause()
    response.once('drain', () => stdout.resume())
  })
  await run.whole
  clearInterval(beat)
  response.end()
}
function json(response, status, value) { response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value)) }
http.createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (text) => { body += text }).on('end', () => {
    if (request.headers.authorization !== expected) return json(response, 401, {})
    const [, kind, id, what] = request.url.split('?')[0].split('/')
    if (kind === 'run' && request.method === 'POST' && id === undefined) {
      if (last !== null && last.end === null) return json(response, 409, {})
      try { last = start(JSON.parse(body)) } catch (error) { return json(response, 400, { error: String(error) }) }
      return json(response, 200, { run: last.id })
    }
    if (kind !== 'run' || last === null || last.id !== id) return json(response, 404, {})
    if (what === 'output' && !last.read) return output(last, response)
    if (what === 'end') return last.end === null ? json(response, 409, {}) : json(response, 200, last.end)
    if (what === 'kill' && request.method === 'POST') { last.child.kill('SIGKILL'); return json(response, 200, {}) }
    json(response, 404, {})
  })
}).listen(Number(port), '127.0.0.1', () => console.log('runner listening on ' + port))
`
