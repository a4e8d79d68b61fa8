import { exchangeSchema, type CredentialExchange } from '../../../src-preload/contract/settings.ts'
import { t } from '../../i18n/text.ts'
import { isHttpUrl } from './http-url.ts'

/** How the key of a provider is used, as it is typed. `as-it-is`: no exchange. */
export interface ExchangeDraft {
  readonly how: CredentialExchange['how'] | 'as-it-is'
  readonly url: string
  readonly method: 'POST' | 'GET'
  readonly clientId: string
  readonly scope: string
  readonly audience: string
  /** Seconds that a token lives where the answer does not say so; empty: five minutes. */
  readonly life: string
}

/** The form of an exchange; undefined: the key is used as it is. */
export function exchangeDraft(exchange: CredentialExchange | undefined): ExchangeDraft {
  return { how: exchange?.how ?? 'as-it-is', url: exchange?.url ?? '', method: exchange?.method ?? 'POST', clientId: exchange?.clientId ?? '', scope: exchange?.scope ?? '', audience: exchange?.audience ?? '', life: exchange?.lifeSeconds?.toString() ?? '' }
}

const fields: Readonly<Record<ExchangeDraft['how'], readonly ('clientId' | 'scope' | 'audience')[]>> = {
  'as-it-is': [], bearer: ['scope', 'audience'], 'client-credentials': ['clientId', 'scope', 'audience'], 'token-exchange': ['audience', 'scope'],
}

/** The fields that this exchange has beside its address, in their order. A GET has no body to carry any. */
export const fieldsOf = ({ how, method }: ExchangeDraft): (typeof fields)[ExchangeDraft['how']] => (how === 'bearer' && method === 'GET' ? [] : fields[how])

export type ExchangeProblems = Partial<Record<'url' | 'clientId' | 'life', string>>

/** What is wrong with a draft, by field. */
export function exchangeProblems(draft: ExchangeDraft): ExchangeProblems {
  if (draft.how === 'as-it-is') return {}
  const life = draft.life.trim()
  return {
    ...(isHttpUrl(draft.url) ? {} : { url: t.providers.badUrl }),
    ...(draft.how === 'client-credentials' && draft.clientId.trim() === '' ? { clientId: t.exchange.needClientId } : {}),
    ...(life === '' || (/^\d+$/.test(life) && exchangeSchema.shape.lifeSeconds.safeParse(Number(life)).success) ? {} : { life: t.exchange.badLife }),
  }
}

/** The exchange that a draft without problems describes; undefined where the key is used as it is. */
export function exchangeOf(draft: ExchangeDraft): CredentialExchange | undefined {
  if (draft.how === 'as-it-is') return undefined
  const shown = Object.fromEntries(fieldsOf(draft).map((name) => [name, draft[name].trim()] as const).filter(([, value]) => value !== ''))
  const life = draft.life.trim()
  return { url: draft.url.trim(), how: draft.how, ...(draft.how === 'bearer' ? { method: draft.method } : {}), ...shown, ...(life === '' ? {} : { lifeSeconds: Number(life) }) }
}
