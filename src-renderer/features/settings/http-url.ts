/**
 * Whether a text is an address over HTTP with a host that was typed (`https:///x` would be read as the host x), and without a user name or a
 * password: none would be sent, and an address is shown where a key is not.
 */
export function isHttpUrl(text: string): boolean {
  const typed = text.trim()
  if (!/^https?:\/\/[^\s/]+/i.test(typed) || !URL.canParse(typed)) return false
  const { username, password } = new URL(typed)
  return username === '' && password === ''
}
