const counted = /(?<![\p{L}\p{N}_.,/-])\d{4,15}(?= (?:model )?(?:requests|tokens|turns|messages|files|bytes)\b)/gu
/** Of a model call, in Audit. */
const inAndOut = /(?<![\p{L}\p{N}_.,/-])(\d+|unknown) in, (\d+|unknown) out\b/gu
const dollars = /(?<![\p{L}\p{N}_.,/-])\d{1,12}\.\d{2}(?= USD\b)/gu

/**
 * What the main process says, with its counts and sums written as the locale does: `10000 model requests` as `10,000 model requests`. Only what is counted
 * in one of its own words; every other number may be a part of a name.
 */
export function saidNumbers(text: string, locale: string): string {
  const grouped = (number: string): string => (number === 'unknown' ? number : new Intl.NumberFormat(locale).format(Number(number)))
  return text
    .replace(counted, grouped)
    .replace(inAndOut, (_, asked: string, answered: string) => `${grouped(asked)} in, ${grouped(answered)} out`)
    .replace(dollars, (number) => new Intl.NumberFormat(locale, { minimumFractionDigits: 2 }).format(Number(number)))
}
