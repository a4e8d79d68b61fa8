/**
 * Whether the model that answered is the one that was asked for. A vendor may answer with a dated name for one without a date, with `latest`
 * resolved, or without the owner's prefix; any other name is another model.
 */
export function sameModel(asked: string, answered: string): boolean {
  const [wanted, got] = [plainName(asked), plainName(answered)]
  if (wanted === got) return true
  const rest = got.startsWith(wanted) ? got.slice(wanted.length) : null
  return rest !== null && /^[-@:_]?(\d{4}-?\d{2}-?\d{2}|\d{4}|\d{3})$/.test(rest)
}

/** Lower case, without the vendor's prefix and without a tag that names no version. */
function plainName(name: string): string {
  return name.trim().toLowerCase().replace(/^.*\//, '').replace(/[-:@](latest|free|default|online|nitro|floor)$/, '')
}
