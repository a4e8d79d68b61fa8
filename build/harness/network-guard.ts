import dgram from 'node:dgram'
import dns from 'node:dns'
import net from 'node:net'

/** What tried to reach the network. */
export interface NetworkGuard { readonly attempts: readonly string[]; release(): void }

/** Thrown at whoever tries to reach the network while the guard stands. */
export class UnexpectedNetworkCall extends Error {
  constructor(what: string) {
    super(`unexpected network call: ${what}`)
  }
}

/**
 * From now on every connection, datagram and name lookup of this process throws and is counted. Everything that Node offers goes through
 * these: http, https, tls and fetch connect by `net`, names are looked up by `dns`.
 */
export function guardNetwork(): NetworkGuard {
  const attempts: string[] = []
  const restore: (() => void)[] = []
  const forbid = (owner: object, name: string, what: string): void => {
    const holder = owner as Record<string, unknown>
    const original = holder[name]
    holder[name] = (...args: readonly unknown[]): never => {
      const call = `${what}(${JSON.stringify(args[0])})`
      attempts.push(call)
      throw new UnexpectedNetworkCall(call)
    }
    restore.push(() => { holder[name] = original })
  }
  forbid(net.Socket.prototype, 'connect', 'net.connect')
  forbid(net.Server.prototype, 'listen', 'net.listen')
  forbid(dgram, 'createSocket', 'dgram.createSocket')
  for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
    forbid(dns, name, `dns.${name}`)
    forbid(dns.promises, name, `dns.promises.${name}`)
  }
  return { attempts, release: () => { for (const undo of restore.splice(0)) undo() } }
}
