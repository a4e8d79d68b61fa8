import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { homedir, hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBench, type Bench } from './sandbox.suite.ts'

const secret = 'canary-4f1d9a'
const abstractName = `\0countersign-test-${String(process.pid)}`
let bench: Bench
let port = 0
let udpPort = 0
const servers: Server[] = []
const udp = createSocket('udp4')
const heard: string[] = []

async function listen(where: { port: number; host: string } | { path: string }): Promise<Server> {
  const server = createServer((socket) => { socket.on('error', () => undefined).end('reached') })
  server.listen(where)
  await once(server, 'listening')
  servers.push(server)
  return server
}

beforeAll(async () => {
  process.env['CANARY_SECRET'] = secret
  bench = openBench()
  const tcp = await listen({ port: 0, host: '127.0.0.1' })
  port = (tcp.address() as { port: number }).port
  await listen({ path: join(bench.dir, 'host.sock') })
  await listen({ path: abstractName })
  udp.on('message', (message) => heard.push(message.toString())).bind(0, '127.0.0.1')
  await once(udp, 'listening')
  udpPort = udp.address().port
  writeFileSync(join(bench.dir, 'secret.txt'), secret)
  mkdirSync(join(bench.dir, 'folder'))
})
afterAll(async () => {
  delete process.env['CANARY_SECRET']
  udp.close()
  for (const server of servers) server.close()
  await bench.close()
})

const unix = (address: string): string => `perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or die; connect(S, ${address}) ? print "reached" : print "blocked"'`

/** Each script prints `reached` where there is no sandbox and `blocked` in one. */
const probes: readonly (readonly [string, () => string])[] = [
  ['a port of the host', () => `(exec 3<>/dev/tcp/127.0.0.1/${String(port)}) 2>/dev/null && echo reached || echo blocked`],
  ['a Unix socket of the host', () => unix(`pack_sockaddr_un("${join(bench.dir, 'host.sock')}")`)],
  ['an abstract socket of the host', () => unix(`pack("S",1)."\\0${abstractName.slice(1)}"`)],
  ['the file next to the workspace', () => `cat ${join(bench.dir, 'secret.txt')} 2>/dev/null | grep -q ${secret} && echo reached || echo blocked`],
  ['the same file by a link', () => `ln -sfn ${join(bench.dir, 'secret.txt')} ./to-secret; cat ./to-secret 2>/dev/null | grep -q ${secret} && echo reached || echo blocked`],
  ['a new file by a link', () => `ln -sfn ${join(bench.dir, 'folder')} ./to-folder; (echo x > ./to-folder/new) 2>/dev/null && echo reached || echo blocked`],
  ['the home folder of the owner', () => `ls ${homedir()} >/dev/null 2>&1 && echo reached || echo blocked`],
  ['the private state of the agent', () => `ls ${bench.stateDir} >/dev/null 2>&1 && echo reached || echo blocked`],
  ['the system\'s accounts', () => `[ $(wc -l < /etc/passwd) -gt 2 ] && echo reached || echo blocked`],
  ['devices of the machine', () => `ls /sys/class >/dev/null 2>&1 && echo reached || echo blocked`],
  ['processes of the host', () => `cat /proc/${String(process.pid)}/cmdline 2>/dev/null | tr '\\0' ' ' | grep -q . && echo reached || echo blocked`],
  ['the host\'s name', () => `[ "$(cat /proc/sys/kernel/hostname)" = "${hostname()}" ] && echo reached || echo blocked`],
  ['the environment of the host', () => 'env | grep -q CANARY_SECRET && echo reached || echo blocked'],
]

function onHost(script: string): string {
  return execFileSync('/bin/bash', ['-c', script], { cwd: join(bench.dir, 'folder'), encoding: 'utf8' }).trim()
}

async function inside(script: string): Promise<string> {
  const ran = await bench.run(script)
  if (!ran.ok) throw new Error(ran.error.message)
  return ran.value.logTail.trim()
}

describe('a command does not reach', () => {
  test.each(probes)('%s', async (_what, script) => {
    expect(onHost(script())).toBe('reached')
    expect(await inside(script())).toBe('blocked')
  })

  test('the host by UDP', async () => {
    const send = (text: string): string => `perl -MIO::Socket::INET -e '$s=IO::Socket::INET->new(PeerAddr=>"127.0.0.1:${String(udpPort)}",Proto=>"udp"); $s->send("${text}")'`
    await inside(send('inside'))
    execFileSync('/bin/bash', ['-c', send('host')])
    while (heard.length === 0) await once(udp, 'message')
    expect(heard).toEqual(['host'])
  })

  test('any address or name', async () => {
    expect(await inside('perl -MSocket -e \'socket(S,AF_INET,SOCK_STREAM,0) or die; print connect(S, sockaddr_in(80, inet_aton("192.0.2.1"))) ? "reached" : $!\'')).toBe('Network is unreachable')
    expect(await inside('getent hosts example.org || echo blocked')).toBe('blocked')
    expect(await inside('cat /sys/class/net/* 2>/dev/null; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "')).toBe('lo')
  })
})

describe('a command cannot write', () => {
  test.each(['/usr', '/etc', '/', '/opt/opencode', '/opt/tools', '/opt/app', '/proc/sys/kernel', '/var', '/run'])('into %s', async (folder) => {
    expect(await inside(`(echo x > ${folder}/probe) 2>/dev/null && echo written || echo refused`)).toBe('refused')
  })

  test('any setting of the kernel', async () => {
    expect(await inside('find /proc/sys -type f -writable 2>/dev/null | head -3')).toBe('')
    for (const file of ['/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger']) expect(await inside(`perl -MFcntl -e 'print sysopen(F, "${file}", O_WRONLY) ? "opened" : "refused"'`)).toBe('refused')
  })
})

test('a command can write to the workspace, its home and its /tmp, of which only the workspace stays', async () => {
  expect(await inside('for d in /workspace ~ /tmp /var/tmp; do echo x > $d/kept && echo ok; done')).toBe('ok\nok\nok\nok')
  expect(readFileSync(join(bench.workspaceDir, 'kept'), 'utf8')).toBe('x\n')
  expect(await inside('ls -A ~ /tmp | grep kept || echo none')).toBe('none')
})

const numbers = { x64: { keyctl: 250, io_uring_setup: 425, bpf: 321, perf_event_open: 298, syslog: 103, unshare: 272 }, arm64: { keyctl: 219, io_uring_setup: 425, bpf: 280, perf_event_open: 241, syslog: 116, unshare: 97 } }
const here = numbers[process.arch as 'x64' | 'arm64']

test.each(Object.entries(here))('the kernel refuses %s to a command', async (_name, number) => {
  expect(await inside(`perl -e '$b="\\0"x128; $r=syscall(${String(number)},0,$b,128,0,0); print $r<0 ? $!+0 : "allowed"'`)).toBe('1')
})

test.each([[17, 'packet'], [40, 'vsock'], [38, 'crypto']])('there are no sockets of family %i (%s)', async (family) => {
  expect(await inside(`perl -e 'print socket(S,${String(family)},1,0) ? "made" : $!+0'`)).toBe('97')
})

test('a command is nobody special and cannot become it', async () => {
  expect(await inside('id -u; id -g; id -G; grep -E "Cap(Eff|Prm|Bnd)|NoNewPrivs|Seccomp:" /proc/self/status | tr -d "\\t "; echo /dev/fd/*')).toBe(['1000', '1000', '1000', 'CapPrm:0000000000000000', 'CapEff:0000000000000000', 'CapBnd:0000000000000000', 'NoNewPrivs:1', 'Seccomp:2', '/dev/fd/0 /dev/fd/1 /dev/fd/2 /dev/fd/3'].join('\n'))
  expect(await inside('unshare -Ur true 2>/dev/null && echo yes || echo no')).toBe('no')
  expect(await inside('mount -t tmpfs t /tmp 2>/dev/null && echo yes || echo no')).toBe('no')
})

test('the whole environment of a command is known', async () => {
  expect((await inside('env | cut -d= -f1 | grep -vx -e _ -e PWD -e SHLVL | sort')).split('\n')).toEqual(['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'USER'])
})

test('no host path shows in the first process of a sandbox', async () => {
  const seen = await inside('cat /proc/1/cmdline /proc/1/environ | tr "\\0" "\\n"')
  expect(seen).not.toContain(bench.dir)
  expect(seen).not.toContain(secret)
  expect(seen).toMatch(/^(\/usr\/bin\/)?bwrap\n--args\n/)
})

test('what OpenCode would load from the workspace is empty and cannot be made', async () => {
  mkdirSync(join(bench.workspaceDir, '.opencode'))
  writeFileSync(join(bench.workspaceDir, '.opencode', 'plugin.js'), 'evil()')
  expect(await inside('ls -A .opencode; cat opencode.json; for f in .opencode/x opencode.json opencode.jsonc; do (echo x > $f) 2>/dev/null && echo written; done; rm -rf .opencode opencode.json 2>/dev/null; mv .opencode away 2>/dev/null; ls -d .opencode opencode.json')).toBe('.gitignore\n{"$schema":"https://opencode.ai/config.json"}\n.opencode\nopencode.json')
  expect(readFileSync(join(bench.workspaceDir, '.opencode', 'plugin.js'), 'utf8')).toBe('evil()')
  expect(existsSync(join(bench.workspaceDir, 'opencode.json'))).toBe(false)
})
