/** Whether a URL has a place for a user name or a password: none would be sent, and an address is shown where a key is not. */
export function hasUser(url: string): boolean {
  return /^\s*[a-z]+:\/\/[^/\\?#]*@/i.test(url)
}
