// Numbers, times, sizes and money of the window in the language that is spoken; the examples are in English.
import { spokenNow } from '../i18n/language.ts'

/** Makes formatters of one kind, each once for each locale. */
function perLocale<F>(make: (locale: string) => F): (locale: string) => F {
  const made = new Map<string, F>()
  return (locale) => {
    const known = made.get(locale) ?? make(locale)
    made.set(locale, known)
    return known
  }
}

const grouped = perLocale((locale) => new Intl.NumberFormat(locale))
const oneDigit = perLocale((locale) => new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }))
const cents = perLocale((locale) => new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' }))
const smallMoney = perLocale((locale) => new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol', minimumFractionDigits: 4, maximumFractionDigits: 4 }))
const allMoney = perLocale((locale) => new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol', minimumFractionDigits: 6 }))
const clock = perLocale((locale) => new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit' }))
const shortClock = perLocale((locale) => new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' }))
const dayAndClock = perLocale((locale) => new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'short', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' }))
const separators = perLocale((locale) => {
  const parts = grouped(locale).formatToParts(12_345.6)
  return { group: parts.find(({ type }) => type === 'group')?.value ?? ',', decimal: parts.find(({ type }) => type === 'decimal')?.value ?? '.' }
})

/** A whole number with thousands separators: `123,090`. */
export function count(value: number): string {
  return grouped(spokenNow().numbers).format(value)
}

/**
 * A typed number without its separators of thousands (those of the language, or spaces), and with a point before its fraction. One whose
 * groups are not of three digits, or that begins with 0, keeps them.
 */
export function ungrouped(typed: string): string {
  const { group, decimal } = separators(spokenNow().numbers)
  const whole = new RegExp(`^[1-9]\\d{0,2}(?:[${group}\\s]\\d{3})+(?:[${decimal}]\\d*)?$`).test(typed) ? typed.replace(new RegExp(`[${group}\\s]`, 'g'), '') : typed
  return whole.replace(decimal, '.')
}

/** A number with a point, such as `2.50`, as somebody would type it: the other way round than `ungrouped`. */
export function asTyped(number: string): string {
  return number.replace('.', separators(spokenNow().numbers).decimal)
}

/** Bytes in the largest unit that keeps at least one digit before the point: `812 B`, `120 KB`, `1.9 MB`. Powers of 1,024. */
export function bytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const
  let amount = Math.max(0, value)
  let unit = 0
  while (amount >= 1_024 && unit < units.length - 1) {
    amount /= 1_024
    unit += 1
  }
  const shown = unit === 0 || amount >= 100 ? count(Math.round(amount)) : oneDigit(spokenNow().numbers).format(amount)
  return `${shown} ${units[unit] ?? 'B'}`
}

/** How long something took or takes: `840 ms`, `4.2 s`, `1:05`, `2:03:09`. */
export function duration(ms: number): string {
  const positive = Math.max(0, ms)
  if (positive < 1_000) return `${Math.round(positive).toString()} ms`
  if (positive < 10_000) return `${oneDigit(spokenNow().numbers).format(Math.floor(positive / 100) / 10)} s`
  if (positive < 60_000) return `${Math.floor(positive / 1_000).toString()} s`
  return countdown(positive)
}

/** Time that is counted in whole seconds while one looks at it: `0:09`, `4:31`, `1:00:00`. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  const hours = Math.floor(seconds / 3_600)
  const minutes = Math.floor(seconds / 60) % 60
  const two = (value: number): string => value.toString().padStart(2, '0')
  return hours > 0 ? `${hours.toString()}:${two(minutes)}:${two(seconds % 60)}` : `${minutes.toString()}:${two(seconds % 60)}`
}

/** Time of day of a moment, local, to the second: `14:03:22`. */
export function timeOfDay(at: number): string {
  return clock(spokenNow().times).format(at)
}

/** Hour and minute of a moment, local: `14:03`. */
export function hourAndMinute(at: number): string {
  return shortClock(spokenNow().times).format(at)
}

/** Date and time of a moment, local. */
export function moment(at: number): string {
  return dayAndClock(spokenNow().times).format(at)
}

/** Money in US dollars from micro-dollars; small sums keep the digits that matter: `$0.0042`, `$1.20`. */
export function money(microUsd: number): string {
  const usd = microUsd / 1_000_000
  return (usd !== 0 && Math.abs(usd) < 0.1 ? smallMoney : cents)(spokenNow().numbers).format(usd)
}

/** Money in US dollars with every digit that it has: `$1.20`, `$1.204500`. */
export function exactMoney(microUsd: number): string {
  return (microUsd % 10_000 === 0 ? cents : allMoney)(spokenNow().numbers).format(microUsd / 1_000_000)
}

/** The first 12 hex digits of a digest, enough to tell two apart at a glance; the whole is one click away. */
export function shortDigest(digest: string): string {
  const hex = digest.startsWith('sha256:') ? digest.slice('sha256:'.length) : digest
  return hex.slice(0, 12)
}

/** A path as folder and name, so that the name can be shown whole when space is short. The folder ends in its separator. */
export function splitPath(path: string): { readonly folder: string; readonly name: string } {
  const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
  const cut = trimmed.lastIndexOf('/') + 1
  return { folder: trimmed.slice(0, cut), name: trimmed.slice(cut) }
}

/** Number of lines of a text; a last line without an end counts, an empty text has none. */
export function lineCount(text: string): number {
  if (text === '') return 0
  let lines = text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}

/** Words of somebody else, which may lack a full stop, before a sentence of ours. */
export function asSentence(words: string): string {
  return /[.!?…]$/.test(words) ? words : `${words}.`
}
