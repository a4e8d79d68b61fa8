/** A sentence of the app's main process and its translation, with `{name}` where it names something. */
export type SaidPair = readonly [english: string, translated: string]

/** A text of which nothing is known stays as it is; so many are remembered. */
const rememberedMax = 500

/**
 * Translates what the main process says. It says it in English, because much of it stands in the journal and is part of what was signed; so it
 * is known by its English words, and what it names is taken over as it is.
 */
export function translatorOf(pairs: readonly SaidPair[]): (text: string) => string {
  const whole = new Map(pairs.filter(([english]) => !english.includes('{')))
  const patterns = pairs.filter(([english]) => english.includes('{')).map(([english, translated]) => ({ pattern: patternOf(english), translated }))
  const remembered = new Map<string, string>()
  const translate = (text: string): string => {
    const known = whole.get(text)
    if (known !== undefined) return known
    for (const { pattern, translated } of patterns) {
      const found = pattern.exec(text)
      if (found !== null) return translated.replace(/\{(\w+)\}/g, (_, name: string) => found.groups?.[name] ?? '')
    }
    return text
  }
  return (text) => {
    const known = remembered.get(text)
    if (known !== undefined) return known
    const made = translate(text)
    if (remembered.size >= rememberedMax) remembered.clear()
    remembered.set(text, made)
    return made
  }
}

function patternOf(english: string): RegExp {
  const parts = english.split(/\{(\w+)\}/)
  return new RegExp(`^${parts.map((part, at) => (at % 2 === 0 ? part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : `(?<${part}>[^]+?)`)).join('')}$`)
}
