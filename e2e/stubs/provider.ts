import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'
import { readAsked, type Asked, type Asker } from './asked.ts'
import { does, type CallStep, type Dressed, type Step, type TextStep } from './step.ts'
import { stream, wholeBody } from './wire.ts'

/** What the scripted lead answers, by purpose. Each is given whole, as the text of the reply. */
export interface LeadScript { readonly brief: string; readonly answer: string; readonly review: string }

/** A lead that hands on the requirement, leaves every question to the owner and recommends what it sees. */
export const plainLead: LeadScript = {
  brief: JSON.stringify({ goal: 'Do what the requirement says.', scope: 'Only what it names.', criteria: ['The test command passes.'], testCommand: 'true', excerptIds: [] }),
  answer: JSON.stringify({ answer: null, why: 'Only the owner can say.' }),
  review: JSON.stringify({ text: 'Looks as asked.', recommendation: 'accept' }),
}

/** What a test may wait for: the list of requests, or a moment inside a reply. */
interface Moments { readonly halfways: number }

/** When a call's bytes were handed to the socket, in milliseconds since the epoch and parts of them; null while they have not been. */
export interface CallStamp { readonly callId: string; firstArgumentAt: number | null; targetAt: number | null }

/**
 * A scripted OpenAI-compatible provider on loopback, both wire APIs. The coder's requests take the steps of a queue, one each, in
 * order; the lead's are answered by purpose. Everything that arrives is recorded whole.
 */
export class StubProvider {
  readonly #server: Server
  readonly asked: Asked[] = []
  readonly #queue: Step[] = []
  readonly #listeners = new Set<() => void>()
  #lead: LeadScript = plainLead
  /** One for each streamed call, in order. */
  readonly stamps: CallStamp[] = []
  #moments: Moments = { halfways: 0 }
  #release: () => void = () => undefined
  #everyone: Step | null = null
  #otherwise: () => Step = () => does.say('Done.')

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        response.destroy()
        // The app went away in the middle of a reply: that is what some tests do.
        if (!(error instanceof Error && 'code' in error)) throw error
      })
    })
  }

  static async start(): Promise<StubProvider> {
    const provider = new StubProvider()
    await new Promise<void>((resolve) => provider.#server.listen(0, '127.0.0.1', resolve))
    return provider
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}/v1`
  }

  /** Appends steps of the coder. Requests beyond the last one get a plain word that the work is done. */
  coder(...steps: readonly Step[]): this {
    this.#queue.push(...steps)
    return this
  }

  /** What the coder is given beyond the last step. */
  otherwise(next: () => Step): this {
    this.#otherwise = next
    return this
  }

  lead(script: Partial<LeadScript>): this {
    this.#lead = { ...this.#lead, ...script }
    return this
  }

  /** From now on every request, whoever asks, is answered by this step; null ends it. */
  everyone(step: Step | null): this {
    this.#everyone = step
    return this
  }

  /** Lets a reply that stands half-way 'until-released' go on. */
  release(): void {
    this.#release()
  }

  of(asker: Asker): readonly Asked[] {
    return this.asked.filter((one) => one.asker === asker)
  }

  /** Resolves when the asker's `count`th request has arrived. */
  async request(asker: Asker, count = 1): Promise<Asked> {
    await this.#until(() => this.of(asker).length >= count)
    return this.of(asker)[count - 1]!
  }

  /** Resolves when a reply stands half-way through its arguments, for the `count`th time. */
  async halfway(count = 1): Promise<void> {
    await this.#until(() => this.#moments.halfways >= count)
  }

  async close(): Promise<void> {
    this.#release()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const api = request.url === '/v1/chat/completions' ? 'chat' : request.url === '/v1/responses' ? 'responses' : null
    if (request.method !== 'POST' || api === null) {
      response.writeHead(404).end()
      return
    }
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk)
    const asked = readAsked({ at: Date.now(), number: this.asked.length + 1, api, headers: request.headers, body })
    const step = this.#stepFor(asked)
    this.asked.push(asked)
    this.#tell()
    await this.#play(asked, step, response)
  }

  #stepFor(asked: Asked): Step {
    if (this.#everyone !== null) return this.#everyone
    if (asked.asker === 'coder') return this.#queue.shift() ?? this.#otherwise()
    return does.say(asked.asker === 'other' ? 'A title' : this.#lead[asked.asker])
  }

  async #play(asked: Asked, step: Step, response: ServerResponse): Promise<void> {
    switch (step.is) {
      case 'hang': return
      case 'nonsense': response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>It works!</body></html>'); return
      case 'status': response.writeHead(step.status, { 'content-type': 'application/json', ...(step.retryAfterS === undefined ? {} : { 'retry-after': String(step.retryAfterS) }) }).end(JSON.stringify({ error: { message: step.message, type: 'stub', code: null } })); return
      case 'call': case 'text': await this.#reply(asked, step, response)
    }
  }

  async #reply(asked: Asked, step: CallStep | TextStep, response: ServerResponse): Promise<void> {
    const id = `stub${asked.number}`
    const call = step.is === 'call' ? { id: `call_${id}`, tool: step.tool, json: JSON.stringify(step.input) } : null
    const reply: Dressed = { id, model: (step.is === 'text' ? step.model : undefined) ?? asked.model, text: step.text ?? '', call }
    if (!asked.streams) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(wholeBody(asked.api, reply)))
      return
    }
    await stream(asked.api, reply, step, response, () => this.#atHalf(step, response), call === null ? () => undefined : this.#stamping(call))
  }

  /** Stamps the call's first piece, and the one that has the last of its first argument: for `write` that is the file. */
  #stamping(call: { readonly id: string; readonly json: string }): (chars: number) => void {
    const stamp: CallStamp = { callId: call.id, firstArgumentAt: null, targetAt: null }
    this.stamps.push(stamp)
    const [first = ['', '']] = Object.entries(JSON.parse(call.json) as Record<string, unknown>)
    const targetChars = [...JSON.stringify(Object.fromEntries([first]))].length - 1
    return (chars) => {
      const now = performance.timeOrigin + performance.now()
      stamp.firstArgumentAt ??= now
      if (chars >= targetChars) stamp.targetAt ??= now
    }
  }

  async #atHalf(step: CallStep | TextStep, response: ServerResponse): Promise<boolean> {
    const dies = step.is === 'text' ? step.dies === true : step.half === 'dies'
    if (dies) response.destroy()
    if (dies) return false
    if (step.is === 'text' || step.half === undefined) return true
    const released = step.half === 'until-released' ? new Promise<void>((resolve) => (this.#release = resolve)) : after((step.half as { forMs: number }).forMs)
    this.#moments = { ...this.#moments, halfways: this.#moments.halfways + 1 }
    this.#tell()
    await Promise.race([released, new Promise((gone) => response.once('close', gone))])
    return !response.destroyed
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener()
  }

  #until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve()
    return new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return
        this.#listeners.delete(look)
        resolve()
      }
      this.#listeners.add(look)
    })
  }
}
