import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { CallOutcome, Fallback, PlainMessage } from './call.ts'
import { refusal } from './errors.ts'
import type { Reply } from './http1/reply.ts'
import type { Metered } from './metering.ts'
import { proxyLimits } from './proxy-limits.ts'
import { cleanWords } from './redaction.ts'
import { TextReply } from './text-reply.ts'
import type { Time } from './time.ts'
import type { VendorWord } from '../core/gateway/vendor.ts'
import type { VendorHost } from './vendor-host.ts'

/** What a program that prints text says of model and usage: nothing. */
const nothingMetered: Metered = { modelAnswered: null, inputTokens: null, outputTokens: null }

type Ended = Extract<VendorWord, { is: 'ended' }>

/**
 * The exec fallback: one run of the vendor's program a call, with the messages as one prompt in a file. Its answer is what it has
 * printed when it ends well; half an answer is none.
 */
export function createExecFallback(host: VendorHost, time: Time, label: () => string, execMs: number = proxyLimits.execMs): Fallback {
  return {
    path: 'exec',
    serve: async (call, text) => {
      const reply = new TextReply({ call, text, path: 'exec', nowMs: time.now() })
      const { ended, late } = await runOnce(host, time, execMs, promptOf(text.messages), [call.grant.lifetime.signal], call.reply)
      const answer = ended.text.trimEnd()
      const problem = late ? `ran longer than ${execMs / 1_000} s.` : problemOf(ended, answer)
      if (problem !== null) return fails(reply, `${label()} (exec) ${problem}`, call.grant.credential)
      await reply.say(answer)
      return reply.finish('stop', nothingMetered)
    },
  }
}

/** The prompt that stands for a list of messages: the text of a lone user message as it is, else each under its role. */
export function promptOf(messages: readonly PlainMessage[]): string {
  if (messages.length === 1) return messages[0]?.content ?? ''
  return messages.map(({ role, content }) => `[${role}]\n${content}\n`).join('\n')
}

function problemOf(ended: Ended, answer: string): string | null {
  if (ended.failure !== null) return `did not run: ${ended.failure.message}`
  if (ended.exitCode !== 0) return `ended with exit code ${ended.exitCode ?? 'unknown'}.`
  return answer === '' ? 'printed nothing.' : null
}

function fails(reply: TextReply, words: string, credential: string | null): CallOutcome {
  const message = cleanWords(words, credential)
  const failed: Failure = failure('provider-unreachable', message, 'Check the vendor’s program in Settings → Fallbacks.')
  return reply.fail(refusal(502, 'fallback_failed', message), failed, nothingMetered)
}

/** Runs the program until it has gone; ends it when the time is up, the client goes or the task is stopped. */
function runOnce(host: VendorHost, time: Time, execMs: number, prompt: string, signals: readonly AbortSignal[], client: Pick<Reply, 'gone' | 'onClose' | 'offClose'>): Promise<{ readonly ended: Ended; readonly late: boolean }> {
  return new Promise((resolve) => {
    let late = false
    const stop = (): void => job.stop()
    const job = host.start({ is: 'exec', prompt }, (word) => {
      if (word.is !== 'ended') return
      cancel()
      client.offClose(stop)
      for (const signal of signals) signal.removeEventListener('abort', stop)
      resolve({ ended: word, late })
    })
    const cancel = time.after(execMs, () => { late = true; stop() })
    client.onClose(stop)
    for (const signal of signals) signal.addEventListener('abort', stop)
    if (client.gone || signals.some(({ aborted }) => aborted)) stop()
  })
}
