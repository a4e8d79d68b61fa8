/*
 * Scripts that run inside the sandboxes, written out at launch since OpenCode's binary cannot read an asar.
 *
 * The bridge and the shell client run on OpenCode's own binary as Bun (`BUN_BE_BUN=1`). Bun loads `bunfig.toml` (with
 * `preload` scripts) and `.env` from the directory it starts in, and options from its environment. Both must therefore
 * start in a read-only folder, with a fixed HOME and config and without the agent's environment, or a workspace could
 * run its code beside OpenCode's password.
 */

/** Where the scripts find what they need, as they have to name it. */
export interface ScriptPlaces { readonly openCode: string; readonly app: string; readonly plainShell: string; readonly bunConfig: string; readonly shellClient: string; readonly brokerSocket: string }

/** A word of a shell's text. */
export const shellWord = (text: string): string => `'${text.replaceAll('\'', '\'\\\'\'')}'`

/** Prefix of the agent's own variables on their way through bwrap and the bridge, where none of them may have an effect. */
export const agentVariablePrefix = 'AGENT_ENV_'

/** What the bridge is told, as JSON in its first argument. The rest of its arguments is the command. */
export interface BridgeOrder {
  readonly egress: { readonly port: number; readonly path: string }
  readonly control: { readonly port: number; readonly path: string }
  readonly cwd: string
}

/** Relays a port of 127.0.0.1 → proxy socket and control socket → OpenCode's port, then runs OpenCode and ends with it. Exit 90: a relay could not listen. */
export const bridgeScript = `'use strict'
const net = require('net'), { spawn } = require('child_process')
const order = JSON.parse(process.argv[2]), [command, ...args] = process.argv.slice(3)
const open = { allowHalfOpen: true }
function pair(a, b) {
  for (const [one, other] of [[a, b], [b, a]]) {
    one.setNoDelay?.(true)
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
    one.pipe(other)
  }
}
function relay(from, to) {
  return new Promise((done, fail) => {
    const server = net.createServer(open, (socket) => pair(socket, net.connect({ ...to, ...open })))
    server.on('error', fail)
    server.listen(from, done)
  })
}
const env = {}
for (const [name, value] of Object.entries(process.env)) if (name.startsWith('${agentVariablePrefix}')) env[name.slice(${agentVariablePrefix.length})] = value
Promise.all([
  relay({ host: '127.0.0.1', port: order.egress.port }, { path: order.egress.path }),
  relay({ path: order.control.path }, { host: '127.0.0.1', port: order.control.port }),
]).then(() => {
  const child = spawn(command, args, { stdio: 'inherit', env, cwd: order.cwd })
  child.on('error', (error) => { console.error('bridge: ' + error.message); process.exit(91) })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (require('os').constants.signals[signal] ?? 0)))
}, (error) => { console.error('bridge: ' + error.message); process.exit(90) })
`

/** Sends (argv, cwd) to the broker, writes what comes back in its order and ends with the command's exit code. 125: the broker went away. 141: nobody reads. */
export const shellClientScript = ({ brokerSocket }: ScriptPlaces): string => `'use strict'
const net = require('net'), fs = require('fs')
const [cwd, ...argv] = process.argv.slice(2)
const socket = net.connect(${JSON.stringify(brokerSocket)})
const nap = new Int32Array(new SharedArrayBuffer(4))
let held = Buffer.alloc(0), done = false
function put(fd, bytes) {
  while (bytes.length) {
    try { bytes = bytes.subarray(fs.writeSync(fd, bytes)) }
    catch (error) { if (error.code !== 'EAGAIN') process.exit(141); Atomics.wait(nap, 0, 0, 2) }
  }
}
function leave(why) { put(2, Buffer.from('sandbox: ' + why + '\\n')); process.exit(125) }
socket.on('connect', () => socket.write(JSON.stringify({ version: 1, argv, cwd }) + '\\n'))
socket.on('data', (chunk) => {
  held = held.length ? Buffer.concat([held, chunk]) : chunk
  while (held.length >= 5) {
    const size = held.readUInt32BE(1)
    if (held.length < 5 + size) break
    const kind = held[0], bytes = held.subarray(5, 5 + size)
    held = held.subarray(5 + size)
    if (kind === 3) { done = true; process.exit(bytes[0]) }
    put(kind, bytes)
  }
})
socket.on('error', (error) => leave(error.message))
socket.on('close', () => { if (!done) leave('the host went away') })
`

/** \`config.shell\`: leaves the workspace before Bun starts (see above) and hands the real working directory on, whatever bytes its name has. */
export const shellScript = ({ openCode, app, plainShell, bunConfig, shellClient }: ScriptPlaces): string => `#!${plainShell}
d=$(pwd -P; echo .) || exit 125
d=\${d%??}
cd ${shellWord(app)} || exit 125
unset XDG_CONFIG_HOME BUN_OPTIONS NODE_OPTIONS BUN_INSPECT BUN_INSPECT_PRELOAD LD_PRELOAD LD_LIBRARY_PATH
HOME=${shellWord(app)}
BUN_BE_BUN=1
export HOME BUN_BE_BUN
exec ${shellWord(openCode)} ${shellWord(`--config=${bunConfig}`)} ${shellWord(shellClient)} "$d" "$@"
`

/** \`bun\` for commands: OpenCode's own binary, so that the sample's tests run where nothing else is installed. */
export const bunScript = ({ openCode }: Pick<ScriptPlaces, 'openCode'>): string => `#!/bin/sh
BUN_BE_BUN=1
export BUN_BE_BUN
exec ${shellWord(openCode)} "$@"
`
