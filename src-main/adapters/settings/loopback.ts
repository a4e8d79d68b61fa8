/** Whether a base URL stays on this machine: `localhost` and below, 127.0.0.0/8, ::1. Anything else, also 0.0.0.0, counts as remote. */
export function isLoopback(baseUrl: string): boolean {
  const host = new URL(baseUrl).hostname.toLowerCase().replace(/\.$/, '')
  if (host === 'localhost' || host.endsWith('.localhost') || host === '[::1]') return true
  // The URL parser has written any spelling of an IPv4 address as four decimal numbers.
  return /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}
