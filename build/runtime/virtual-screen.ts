import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { boundToUs } from './bound-to-us.ts'

export interface VirtualScreen {
  /** For the environment's DISPLAY. */
  readonly display: string
  readonly close: () => Promise<void>
}

/**
 * Starts Xvfb on a free display, for machines without a screen and for tests. Local accounts may draw on it (the app under test
 * runs as another one), nobody over TCP. (xvfb-run would do, but leaves its command running when it is told to end.)
 * It is not reset when its last window closes: while it resets, the next app would find no screen.
 * @throws when Xvfb ends before it is ready
 */
export async function openVirtualScreen(): Promise<VirtualScreen> {
  const args = ['-displayfd', '3', '-screen', '0', '1440x900x24', '-nolisten', 'tcp', '-ac', '-noreset']
  const screen = boundToUs('Xvfb', args)
  const server = spawn(screen.command, screen.args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] })
  const ended = once(server, 'exit')
  const number = await Promise.race([
    firstLine(server.stdio[3] as Readable),
    ended.then(() => {
      throw new Error('Xvfb ended before it was ready')
    }),
  ])
  return {
    display: `:${number}`,
    close: async () => {
      server.kill()
      await ended
    },
  }
}

async function firstLine(stream: Readable): Promise<string> {
  let text = ''
  for await (const chunk of stream) {
    text += String(chunk)
    if (text.includes('\n')) return text.trim()
  }
  throw new Error('Xvfb said no display number')
}
