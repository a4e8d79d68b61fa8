import { app } from 'electron'

/** What outside programs hand to the app as it starts or while it runs: arguments of a start, or one address on macOS. Kept until somebody follows. */
export interface IncomingLinks { follow(listener: (args: readonly string[]) => void): void }

/** Before the app is ready: on macOS the address that started it comes that early. `toFront` is called for every start of a second instance and every address. */
export function listenForLinks(toFront: () => void): IncomingLinks {
  let listener: ((args: readonly string[]) => void) | null = null
  const early: (readonly string[])[] = [process.argv.slice(1)]
  const take = (args: readonly string[]): void => {
    if (listener === null) early.push(args)
    else listener(args)
  }
  app.on('second-instance', (_event, args) => { toFront(); take(args) })
  app.on('open-url', (event, address) => { event.preventDefault(); toFront(); take([address]) })
  return { follow: (next) => { listener = next; for (const args of early.splice(0)) next(args) } }
}
