const grouped = new Intl.NumberFormat('en-US')
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const shortClock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const dayAndClock = new Intl.DateTimeFormat('en-GB', { year: 'numeric', month: 'short', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** A whole number with thousands separators: `123,090`. */
export function count(value: number): string {
  return grouped.format(value)
}

/** A typed number without its separators of thousands (commas or spaces). One whose groups are not of three digits, or that begins with 0, stays as it was typed. */
export function ungrouped(typed: string): string {
  return /^[1-9]\d{0,2}(?:[,\s]\d{3})+(?:\.\d*)?$/.test(typed) ? typed.replace(/[,\s]/g, '') : typed
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
  const digits = unit === 0 || amount >= 100 ? 0 : 1
  return `${amount.toFixed(digits)} ${units[unit] ?? 'B'}`
}

/** How long something took or takes: `840 ms`, `4.2 s`, `1:05`, `2:03:09`. */
export function duration(ms: number): string {
  const positive = Math.max(0, ms)
  if (positive < 1_000) return `${Math.round(positive).toString()} ms`
  if (positive < 10_000) return `${(Math.floor(positive / 100) / 10).toFixed(1)} s`
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
  return clock.format(at)
}

/** Hour and minute of a moment, local: `14:03`. */
export function hourAndMinute(at: number): string {
  return shortClock.format(at)
}

/** Date and time of a moment, local. */
export function moment(at: number): string {
  return dayAndClock.format(at)
}

/** Money in US dollars from micro-dollars; small sums keep the digits that matter: `$0.0042`, `$1.20`. */
export function money(microUsd: number): string {
  const usd = microUsd / 1_000_000
  if (usd === 0) return '$0.00'
  return `$${usd.toFixed(Math.abs(usd) < 0.1 ? 4 : 2)}`
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
