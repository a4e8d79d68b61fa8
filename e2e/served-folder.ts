import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'

const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json' }

/** Serves the files of a built page on loopback: the app's runtime loads no scripts from `file:`. What is no file is answered 404. */
export async function serveFolder(folder: string): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, response) => {
    const path = join(folder, new URL(request.url ?? '/', 'http://served').pathname)
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true
    if (isFile) response.writeHead(200, { 'content-type': types[extname(path)] ?? 'application/octet-stream' }).end(readFileSync(path))
    else response.writeHead(404).end()
  })
  await new Promise<void>((listening) => { server.listen(0, '127.0.0.1', listening) })
  return { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, close: () => { server.close() } }
}
