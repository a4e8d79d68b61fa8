import { execFileSync, fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { directOnly } from '../../../src-main/core/gateway/vendor.ts'
import { ensureSystemPackages, nginxPaths } from '../../runtime/system-packages.ts'

/** A way to the upstream: where it listens, its token, and the processes that it is made of. */
export interface Peer { readonly name: string; readonly port: number; readonly token: string; readonly pids: () => readonly number[] }

/** `bare`: Node's HTTP handing on and nothing else; `ours`: the proxy alone, as countersign-proxy; `inApp`: with the app's word on each call over the process's channel. */
export interface Peers { readonly straight: Peer; readonly nginx: Peer | null; readonly bare: Peer; readonly ours: Peer; readonly inApp: Peer; close(): Promise<void> }

const entry = resolve(import.meta.dirname, '../../../src-main/proxy/entry.ts')
const alone = resolve(import.meta.dirname, '../../../src-main/proxy/countersign-proxy.ts')
const token = 'bench-token-0123456789-0123456789-0123456789'

/** Starts the upstream, nginx before it where there is one, and our proxy before it. */
export async function startPeers(): Promise<Peers> {
  const folder = mkdtempSync(join(tmpdir(), 'cs-bench-px-'))
  const children: ChildProcess[] = []
  const upstream = fork(resolve(import.meta.dirname, 'bench-upstream.ts'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  children.push(upstream)
  const [{ port }] = (await once(upstream, 'message')) as [{ port: number }]
  const nginx = await startNginx(folder, port, children)
  const pass = fork(resolve(import.meta.dirname, 'bare-pass.ts'), [String(port)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  children.push(pass)
  const [passing] = (await once(pass, 'message')) as [{ port: number }]
  const ours = await startAlone(folder, port, children)
  const inApp = await startInApp(port, children)
  return {
    straight: { name: 'straight', port, token, pids: () => pidOf(upstream) }, nginx, bare: { name: 'bare', port: passing.port, token, pids: () => pidOf(pass) }, ours, inApp,
    close: async () => {
      for (const child of children.reverse()) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        child.kill('SIGTERM')
        await Promise.race([once(child, 'exit'), pause(3_000)])
        child.kill('SIGKILL')
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function startAlone(folder: string, upstreamPort: number, children: ChildProcess[]): Promise<Peer> {
  const port = await freePort()
  const config = join(folder, 'proxy.json')
  writeFileSync(config, JSON.stringify({
    port, providers: [{ id: 'bench', label: 'Bench', baseUrl: `http://127.0.0.1:${String(upstreamPort)}/v1`, api: 'chat', models: [{ id: 'bench', outputTokens: 1_000 }], key: { env: 'BENCH_KEY' } }],
    clients: [{ name: 'bench', token: { env: 'BENCH_TOKEN' }, models: [{ provider: 'bench', model: 'bench' }] }],
  }))
  const child = spawn(process.execPath, [alone, '--config', config], { env: { BENCH_KEY: 'bench-key', BENCH_TOKEN: token }, stdio: ['ignore', 'ignore', 'inherit'] })
  children.push(child)
  await untilAnswers(port)
  return { name: 'ours', port, token, pids: () => pidOf(child) }
}

async function startInApp(upstreamPort: number, children: ChildProcess[]): Promise<Peer> {
  const child = fork(entry, { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  children.push(child)
  const ready = new Promise<number>((listening, broken) => {
    child.on('message', (message: { is: string; port?: number; failure?: unknown; ask?: { callNumber: number } }) => {
      // As the app answers: at once, over the same channel.
      if (message.is === 'admission-ask') child.send({ is: 'admission', callNumber: message.ask?.callNumber, admission: { admit: true } })
      if (message.is === 'ready') {
        child.send({ is: 'grant', grant: { grantId: 'gw_bench', taskId: 'task_bench', bot: 'coder', token, socketPath: null, credential: 'bench-key', target: { baseUrl: `http://127.0.0.1:${String(upstreamPort)}/v1`, api: 'chat', modelId: 'bench', providerLabel: 'Bench', needsKey: true } } })
        child.once('message', () => { listening(message.port ?? 0) })
      }
    })
    child.once('exit', () => { broken(new Error('the proxy ended')) })
  })
  child.send({ is: 'start', preferredPort: 0, firstCallNumber: 1, serving: directOnly })
  return { name: 'in the app', port: await ready, token, pids: () => pidOf(child) }
}

/**
 * One worker, as we have one; kept connections on both sides, as we keep them; the provider's key added; the request read whole, as it does by
 * default; no answer held back and nothing logged (we tell each call): nginx at its best for this job. Null: none is here and none can be installed.
 */
async function startNginx(folder: string, upstreamPort: number, children: ChildProcess[]): Promise<Peer | null> {
  try {
    await ensureSystemPackages(['peer'])
  } catch (error) {
    console.error(`bench: without nginx, so what is measured against it is skipped. ${error instanceof Error ? error.message : String(error)}`)
  }
  const program = nginxPaths.find((path) => existsSync(path))
  if (program === undefined) return null
  const port = await freePort()
  for (const name of ['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'nginx.conf'), `
worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log crit;${process.getuid?.() === 0 ? ' user root;' : ''}
events { worker_connections 8192; }
http {
  access_log off; client_max_body_size 32m; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  keepalive_timeout 120s; keepalive_requests 1000000; tcp_nodelay on;
  upstream vendor { server 127.0.0.1:${String(upstreamPort)}; keepalive 1024; keepalive_requests 1000000; }
  server { listen 127.0.0.1:${String(port)}; location / { proxy_pass http://vendor; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Authorization "Bearer bench-key"; proxy_buffering off; proxy_read_timeout 300s; } }
}`)
  const child = spawn(program, ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: ['ignore', 'ignore', 'ignore'] })
  children.push(child)
  await untilAnswers(port)
  return { name: 'nginx', port, token, pids: () => execFileSync('pgrep', ['-P', String(child.pid)], { encoding: 'utf8' }).trim().split('\n').map(Number).concat(child.pid ?? []) }
}

function pidOf({ pid }: ChildProcess): readonly number[] {
  return pid === undefined ? [] : [pid]
}

async function untilAnswers(port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const answered = await new Promise<boolean>((done) => {
      const sent = request({ host: '127.0.0.1', port, method: 'POST', path: '/v1/chat/completions', agent: false }, (response) => { response.resume(); done(true) })
      sent.on('error', () => { done(false) })
      sent.end('{"model":"bench"}')
    })
    if (answered) return
    await pause(50)
  }
  throw new Error(`nobody answers on port ${String(port)}`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
