#!/usr/bin/env node
import type { Standalone } from './standalone.ts'

/** The model proxy as a program of its own. SIGHUP reads the configuration again, once it has started; SIGTERM and SIGINT end it. */
let running: Standalone | null = null
const started = start()
process.on('SIGHUP', () => { void started.then((standalone) => standalone.reload()) })
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => { void end() })
// However the process ends, except by SIGKILL: what has ended is told.
process.on('exit', () => { running?.tell() })

/** Loads the proxy only here: until a signal is listened to, it kills. */
async function start(): Promise<Standalone> {
  const [{ readArguments, startStandalone }, { processTime }] = await Promise.all([import('./standalone.ts'), import('./time.ts')])
  const asked = readArguments(process.argv.slice(2))
  if ('words' in asked) {
    ;(asked.exitCode === 0 ? process.stdout : process.stderr).write(`${asked.words}\n`)
    process.exit(asked.exitCode)
  }
  running = await startStandalone(asked.config, {
    env: process.env, time: processTime,
    print: (lines) => { process.stdout.write(`${lines}\n`) },
    warn: (line) => { process.stderr.write(`countersign-proxy: ${line}\n`) },
  })
  return running ?? process.exit(2)
}

/** While it starts, there is nothing to wait for. */
async function end(): Promise<void> {
  await running?.stop()
  process.exit(0)
}
