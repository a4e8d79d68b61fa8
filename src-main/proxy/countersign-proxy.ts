#!/usr/bin/env node
import { readArguments, startStandalone } from './standalone.ts'
import { processTime } from './time.ts'

/** The model proxy as a program of its own. SIGHUP reads the configuration again; SIGTERM and SIGINT end it. */
const asked = readArguments(process.argv.slice(2))
if ('words' in asked) {
  ;(asked.exitCode === 0 ? process.stdout : process.stderr).write(`${asked.words}\n`)
  process.exit(asked.exitCode)
}
void run(asked.config)

async function run(config: string): Promise<void> {
  const standalone = await startStandalone(config, {
    env: process.env, time: processTime,
    print: (lines) => { process.stdout.write(`${lines}\n`) },
    warn: (line) => { process.stderr.write(`countersign-proxy: ${line}\n`) },
  })
  if (standalone === null) process.exit(2)
  // However the process ends, except by SIGKILL: what has ended is told.
  process.on('exit', () => { standalone.tell() })
  process.on('SIGHUP', () => { void standalone.reload() })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => { void standalone.stop().then(() => process.exit(0)) })
}
