import type { ModelCall } from '../../../src-preload/contract/rows.ts'
import { t } from '../../i18n/text.ts'
import { duration } from '../../ui/format.ts'

/** What an open call waits for and for how long; last, how long it has taken. */
export function openCallText({ waits, startedAt }: Pick<ModelCall, 'waits' | 'startedAt'>, now: number): string {
  const taken = duration(now - startedAt)
  if (waits === undefined) return `${t.row.firstByte} · ${taken}`
  const time = duration(now - waits.since)
  const words = { reply: () => t.row.replyComes, silence: () => t.row.noBytes({ time }), 'keep-alive': () => t.row.onlyAlive({ time }), fallback: () => t.row.vendorAnswers }[waits.for]()
  return `${words} · ${taken}`
}
