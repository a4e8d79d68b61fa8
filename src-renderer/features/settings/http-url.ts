import { hasUser } from '../../../src-preload/contract/url-user.ts'

/** Whether a text is an address over HTTP with a host that was typed (`https:///x` would be read as the host x), and without a user name or a password. */
export function isHttpUrl(text: string): boolean {
  const typed = text.trim()
  return /^https?:\/\/[^\s/]+/i.test(typed) && URL.canParse(typed) && !hasUser(typed)
}
