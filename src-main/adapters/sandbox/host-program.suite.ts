import { openBench, openCodeBinary, order } from './sandbox.suite.ts'
import { seatbeltOnStandIn } from './seatbelt-bench.suite.ts'

/**
 * A host of its own, for tests that kill it: starts an agent with a daemon and a command with a daemon, says so in one line
 * of JSON and waits. Run with Node: the test is its parent. `seatbelt`: on the macOS sandbox with its stand-in, where the agent can start nothing but itself.
 */
const [, , commandSeconds, daemonSeconds, kind] = process.argv
const bench = openBench(kind === 'seatbelt' ? seatbeltOnStandIn : undefined)
const agent = await bench.start()
const daemon = kind === 'seatbelt' ? [openCodeBinary, '-e', `setTimeout(() => {}, 1e9) // ${String(daemonSeconds)}`] : ['setsid', 'sleep', daemonSeconds]
await order(agent, { eval: `const [program, ...args] = ${JSON.stringify(daemon)}; require("child_process").spawn(program, args, { detached: true, stdio: "ignore" }).unref()` })
const descriptors = await bench.run('echo /dev/fd/*')
const running = order(agent, { text: `setsid nohup sleep ${String(commandSeconds)} & cat /proc/self/status | grep NSpid; sleep ${String(commandSeconds)}` })
while (bench.asks.length === 0) await new Promise((done) => setImmediate(done))
process.stdout.write(`${JSON.stringify({ pid: agent.pid, startTime: agent.startTime, dir: bench.dir, descriptors: descriptors.ok ? descriptors.value.logTail.trim() : descriptors.error.message })}\n`)
await running
