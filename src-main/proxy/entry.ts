import { findParent } from '../core/gateway/parent-link.ts'
import { createProxy } from './proxy.ts'
import { processTime } from './time.ts'

/** The proxy process: started by the app (Electron's utilityProcess) or by Node's fork; speaks only through its parent port. */
const parent = findParent(process)
if (parent === null) {
  process.stderr.write('The model proxy is started by the app and takes its orders from it.\n')
  process.exit(2)
}
const proxy = createProxy({ post: (message) => parent.post(message), time: processTime, onStopped: () => process.exit(0) })
parent.onMessage((message) => proxy.take(message))
// Without its app there is nobody who admits a call.
parent.onClosed(() => process.exit(0))
