import type { Fields } from './http1/fields.ts'

/** Where a connection came in: the loopback port (`host`: its usual name, with the port), or the Unix socket of one grant. */
export type Door = { readonly is: 'tcp'; readonly port: number; readonly host: string } | { readonly is: 'socket'; readonly grantId: string }

const loopbackNames = new Set(['127.0.0.1', 'localhost', '[::1]'])

/**
 * Whether a request's Host and Origin are ours; else why not. A page in a browser reaches loopback under its own Origin,
 * or by a name of its own that resolves to 127.0.0.1: both are refused. On a Unix socket any loopback port will do, since
 * inside a sandbox the same socket stands behind another port.
 */
export function foreignRequest(fields: Fields, door: Door): string | null {
  const host = fields.only('host')
  if (host === null) return 'exactly one Host header is needed'
  if (!isOwnHost(host, door)) return 'the Host header names another host'
  if (!fields.has('origin')) return null
  for (const origin of fields.all('origin')) {
    if (!origin.startsWith('http://') || !isOwnHost(origin.slice('http://'.length), door)) return 'the Origin header names another origin'
  }
  return null
}

function isOwnHost(value: string, door: Door): boolean {
  // As nearly everybody says it.
  if (door.is === 'tcp' && value === door.host) return true
  const parts = /^(\[[0-9a-f:]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(value.toLowerCase())
  if (parts === null || !loopbackNames.has(parts[1] ?? '')) return false
  return door.is === 'socket' || Number(parts[2] ?? '80') === door.port
}
