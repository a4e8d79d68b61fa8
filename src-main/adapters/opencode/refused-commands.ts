import type { CoderSignal, CommandAsk } from '../../engine/ports.ts'

/**
 * Commands that were denied while their session had other asks open. OpenCode would reject those together with the denied one and end the
 * turn, so the denied call is let through to the host's broker, where nothing runs without a grant, and is refused there with its reason.
 */
export interface RefusedCommands {
  /** The next command of exactly this text and folder is refused. */
  expect(command: { readonly text: string; readonly cwd: string; readonly callId: string | null }, reason: string): void
  /** The reason, once, when this is such a command; else null. */
  take(ask: Pick<CommandAsk, 'text' | 'cwd'>): string | null
  /** The signal as it is to be shown: to OpenCode such a call is done, with the broker's exit code; to the owner it was refused. */
  shown(signal: CoderSignal): CoderSignal
}

/** Starts without any. */
export function createRefusedCommands(): RefusedCommands {
  const expected: { readonly text: string; readonly cwd: string; readonly reason: string }[] = []
  const calls = new Set<string>()
  return {
    expect({ text, cwd, callId }, reason) {
      expected.push({ text, cwd, reason })
      if (callId !== null) calls.add(callId)
    },
    shown: (signal) => signal.is === 'tool-ended' && signal.outcome === 'done' && calls.has(signal.callId) ? { ...signal, outcome: 'failed' } : signal,
    take({ text, cwd }) {
      const at = expected.findIndex((entry) => entry.text === text && entry.cwd === cwd)
      return at < 0 ? null : expected.splice(at, 1)[0]?.reason ?? null
    },
  }
}
