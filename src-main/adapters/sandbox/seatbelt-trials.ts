import { shellWord } from './scripts.ts'

/**
 * Run under the profile that commands get. It has to be able to work, and must not be able to read beside its workspace, write there, reach a port of
 * this machine, or look without the means to. It leaves somebody behind, who must be proven to be gone at its end. Each thing that is open or missing is a line; all well is one word.
 */
export const commandTrial = (canary: string, port: number): string => `(echo x > made && cat made) > /dev/null 2>&1 || echo 'its workspace is closed'
cat ${shellWord(canary)} > /dev/null 2>&1 && echo 'it reads beside its workspace'
(ln -s ${shellWord(canary)} soft; ln ${shellWord(canary)} hard) 2> /dev/null; (cat soft || cat hard) > /dev/null 2>&1 && echo 'it reads through links'
(echo x > ${shellWord(`${canary}.made`)}) 2> /dev/null && echo 'it writes beside its workspace'
masked=opencode.json; [ "$(uname)" = Darwin ] && masked=OpenCode.json; (echo x > "$masked") 2> /dev/null && echo 'it writes what is masked'
if command -v nc > /dev/null; then nc -z -w 1 127.0.0.1 ${String(port)} > /dev/null 2>&1 && echo 'it reaches the network'; else echo 'nc is missing, so that the network cannot be tried'; fi
(sleep 60 > /dev/null 2>&1 &)
echo tried`

/** The same for the agent's profile, run by OpenCode's binary as Bun: besides, it must reach its own port, and start no other program. */
export const agentTrialScript = `'use strict'
const net = require('net'), fs = require('fs'), { spawnSync } = require('child_process')
const [canary, foreign, own] = process.argv.slice(2)
const open = (work) => { try { work(); return true } catch { return false } }
const reach = (port) => new Promise((done) => { const socket = net.connect(Number(port), '127.0.0.1', () => { socket.destroy(); done(true) }); socket.on('error', () => done(false)) })
const listen = (port) => new Promise((done) => { const server = net.createServer((socket) => socket.destroy()); server.on('error', () => done(false)); server.listen(Number(port), '127.0.0.1', () => done(true)) })
const look = async () => {
  if (!open(() => fs.writeFileSync('made', 'x'))) console.log('the coder\\'s workspace is closed')
  if (open(() => fs.readFileSync(canary))) console.log('the coder reads beside its folders')
  if (open(() => { fs.symlinkSync(canary, 'coders-soft'); fs.readFileSync('coders-soft') }) || open(() => { fs.linkSync(canary, 'coders-hard'); fs.readFileSync('coders-hard') })) console.log('the coder reads through links')
  if (open(() => fs.writeFileSync(canary + '.made', 'x'))) console.log('the coder writes beside its folders')
  if (open(() => fs.writeFileSync(process.platform === 'darwin' ? 'OpenCode.json' : 'opencode.json', 'x'))) console.log('the coder writes what is masked')
  if (['/bin/ls', '/bin/bash', '/usr/bin/env'].some((path) => !spawnSync(path, ['-c', 'true']).error)) console.log('the coder starts other programs')
  if (!(await listen(own)) || !(await reach(own))) console.log('the coder\\'s own port is closed')
  if (await reach(foreign)) console.log('the coder reaches other ports')
  console.log('tried')
  process.exit(0)
}
look()
`
