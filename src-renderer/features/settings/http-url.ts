/** Whether a text is an address over HTTP with a host that was typed: `https:///x` would be read as the host x. */
export function isHttpUrl(text: string): boolean {
  const typed = text.trim()
  return /^https?:\/\/[^\s/]+/i.test(typed) && URL.canParse(typed)
}
