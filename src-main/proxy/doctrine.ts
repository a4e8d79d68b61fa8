import type { Fallback, ModelCall, TextRequest } from './call.ts'
import { finalRefusal, refusal, type Refusal } from './errors.ts'
import { textRequestOf, type Ineligible } from './text-request.ts'

/** What the owner allows now. `fallbacks`: those turned on, in order of preference. `vendorId`: whose program they run. */
export interface Doctrine { readonly directEnabled: boolean; readonly fallbacks: readonly Fallback[]; readonly vendorId: string }

/** Why a call cannot go direct. `standing`: it stays so until the owner changes something, so the same request need not be tried again. */
export interface Obstacle { readonly code: string; readonly why: string; readonly standing: boolean }

/**
 * By which ways a call may be served. D1. Tools are served direct or fail loudly: a call that carries some has no fallback, so none is even
 * started. D2. The responses API is direct only. D3. A fallback is tried before the first byte of an answer, never after. D4. Whether one may be
 * tried is asked when it is about to be: direct can take minutes, and the owner may have turned it off, or changed its program, since.
 */
export class Way {
  readonly obstacle: Obstacle | null
  readonly #call: ModelCall
  readonly #doctrine: () => Doctrine
  /** Read when it is asked for: most calls go direct, and then it does not matter. */
  #read: ReturnType<typeof textRequestOf> | null = null

  constructor(call: ModelCall, doctrine: () => Doctrine) {
    this.obstacle = obstacleOf(call, doctrine())
    this.#call = call
    this.#doctrine = doctrine
  }

  /** Those that may be tried now. */
  get fallbacks(): readonly Fallback[] {
    const { api, grant } = this.#call
    if (api !== 'chat') return none
    const { fallbacks, vendorId } = this.#doctrine()
    return fallbacks.length > 0 && grant.current().target.fallback === vendorId && this.#readNow().ok ? fallbacks : none
  }

  /** What fallbacks get; null where none may try. */
  get text(): TextRequest | null {
    if (this.#call.api === 'responses') return null
    const read = this.#readNow()
    return read.ok ? read.value : null
  }

  get ineligible(): Ineligible | null {
    if (this.#call.api === 'responses') return null
    const read = this.#readNow()
    return read.ok ? null : read.error
  }

  #readNow(): ReturnType<typeof textRequestOf> {
    return (this.#read ??= textRequestOf(this.#call.body.json))
  }
}

const none: readonly Fallback[] = []

function obstacleOf({ grant: { target, credential } }: ModelCall, { directEnabled }: Doctrine): Obstacle | null {
  if (target.needsKey && credential === null) return { code: 'credential_missing', why: `${target.providerLabel} has no key`, standing: true }
  return directEnabled ? null : { code: 'direct_disabled', why: 'the direct path is turned off', standing: true }
}

/** Why a request is not one that its grant allows; null if it is. */
export function unfitRequest({ grant: { target }, api, body }: ModelCall): Refusal | null {
  if (target.api !== api) return finalRefusal(404, 'api_not_offered', `This task uses the ${target.api === 'chat' ? 'chat completions' : 'responses'} API of ${target.providerLabel}.`)
  const asked = body.json['model']
  if (asked !== target.modelId) return finalRefusal(403, 'model_not_pinned', `This task is pinned to the model ${target.modelId}; the request asks for ${typeof asked === 'string' ? asked.slice(0, 200) : 'none'}.`)
  return null
}

/** What the client is told of a call that stands before an obstacle and has no fallback. */
export function obstacleRefusal(call: ModelCall, way: Way, obstacle: Obstacle): Refusal {
  const make = obstacle.standing ? finalRefusal : refusal
  if (call.api === 'responses') return make(404, obstacle.code, `The responses API is served direct only, and ${obstacle.why}.`)
  if (way.ineligible?.because === 'tools') return toolsRefusal(obstacle)
  const why = way.ineligible === null ? 'no fallback is turned on' : `no fallback may answer it: ${way.ineligible.why}`
  return make(502, obstacle.code, `This call cannot go out: ${obstacle.why}, and ${why}.`)
}

/** D1, told: the code is the same whatever keeps the call from going direct. */
export function toolsRefusal(obstacle: Obstacle): Refusal {
  const make = obstacle.standing ? finalRefusal : refusal
  return make(502, 'tools_fallback_ineligible', `A request with tools is served direct or not at all, and ${obstacle.why}. A fallback would turn its tool calls into prose.`)
}
