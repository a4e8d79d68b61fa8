/** An answer of the proxy's own, in the shape that OpenAI's clients read. `final`: the same request will never be served. */
export interface Refusal {
  readonly status: number
  readonly code: string
  readonly type: 'invalid_request_error' | 'authentication_error' | 'permission_error' | 'api_error'
  readonly message: string
  readonly final: boolean
}

/** Builds a refusal that another try may change. */
export function refusal(status: number, code: string, message: string): Refusal {
  const type = status === 401 ? 'authentication_error' : status === 403 ? 'permission_error' : status < 500 ? 'invalid_request_error' : 'api_error'
  return { status, code, type, message, final: false }
}

/** Builds a refusal that is given once and repeated from memory. */
export function finalRefusal(status: number, code: string, message: string): Refusal {
  return { ...refusal(status, code, message), final: true }
}

/** `{error:{message,type,code,param}}`. Source: https://platform.openai.com/docs/guides/error-codes */
export function errorBody(error: Pick<Refusal, 'message' | 'type' | 'code'>): string {
  return JSON.stringify({ error: { message: error.message, type: error.type, code: error.code, param: null } })
}
