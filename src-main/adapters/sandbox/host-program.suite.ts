import { openBench, order } from './sandbox.suite.ts'

/**
 * A host of its own, for tests that kill it: starts an agent with a daemon and a command with a daemon, says so in one line
 * of JSON and waits. Run with Node: the test is its parent.
 */
const [, , commandSeconds, daemonSeconds] = process.argv
const bench = openBench()
const agent = await bench.start()
await order(agent, { eval: `require("child_process").spawn("setsid", ["sleep", "${daemonSeconds}"], { detached: true, stdio: "ignore" }).unref()` })
const descriptors = await bench.run('echo /dev/fd/*')
const running = order(agent, { text: `setsid nohup sleep ${commandSeconds} & cat /proc/self/status | grep NSpid; sleep ${commandSeconds}` })
while (bench.asks.length === 0) await new Promise((done) => setImmediate(done))
process.stdout.write(`${JSON.stringify({ pid: agent.pid, startTime: agent.startTime, dir: bench.dir, descriptors: descriptors.ok ? descriptors.value.logTail.trim() : descriptors.error.message })}\n`)
await running
