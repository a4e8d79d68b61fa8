import { protocol, type ProtocolRequest, type ProtocolResponse } from 'electron'
import { readFileSync } from 'node:fs'
import { extname, isAbsolute, join, relative } from 'node:path'
import type { FirstPage } from './first-page.ts'

/** Where the window's own files are served from; the only origin that the renderer ever has. */
export const appOrigin = 'app://countersign'

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Must run before Electron's `ready` event. */
export function declareAppScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ])
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml', '.png': 'image/png', '.woff2': 'font/woff2', '.wasm': 'application/wasm',
}

/** What the page has by now. Each resolves at the latest after two seconds. */
interface Served {
  /** The page itself. */
  readonly page: Promise<void>
  /** The window's code, for which the page's first script asks, at once or when a screen that came with the page has been painted: it evaluates that, and this process is free until it makes its first call. */
  readonly code: Promise<void>
}

/**
 * Serves `rendererDir` as `app://countersign/`, read-only, with a strict CSP; any path outside of it, and any that is not there, is a 404.
 * Files are read right here: through Chromium's network service the first of them would wait until that process is up. And at once: each is
 * read in less time than it takes to hear that another thread has read it. While the page waits for what it asked for, this process had
 * better not do anything long. `page` says which page the address without a path has, at each request.
 */
export function serveApp(rendererDir: string, page: () => FirstPage): Served {
  const served = createLull()
  const code = createLull()
  let booted = false
  // The newer `protocol.handle` first loads the runtime's whole fetch (30 ms here, before the first byte).
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- see above
  protocol.registerBufferProtocol('app', (request, callback) => {
    const response = answer(rendererDir, page, request)
    callback(response)
    if (response.mimeType === 'text/html') served.stir()
    if (response.mimeType !== 'text/javascript') return
    if (booted) code.stir()
    booted = true
  })
  return { page: served.over, code: code.over }
}

function answer(rendererDir: string, page: () => FirstPage, request: ProtocolRequest): ProtocolResponse & { readonly mimeType?: string } {
  const url = new URL(request.url)
  const first = url.pathname === '/' ? page() : null
  const path = first?.file ?? decodedPath(url.pathname)
  if (path === null) return notFound
  const file = join(rendererDir, path)
  const inside = relative(rendererDir, file)
  const mimeType = types[extname(file)]
  if (url.host !== 'countersign' || request.method !== 'GET' || inside.startsWith('..') || isAbsolute(inside) || mimeType === undefined) return notFound
  const content = contentOf(file)
  const data = content === null || first === null ? content : Buffer.from(content.toString('utf8').replace(/<html[^>]*>/, `<html ${first.root}>`))
  return data === null ? notFound : { mimeType, charset: 'utf-8', data, headers: { 'Content-Security-Policy': contentSecurityPolicy, 'X-Content-Type-Options': 'nosniff' } }
}

/** Null for what is no file, or cannot be read: to the page it is not there. */
function contentOf(file: string): Buffer | null {
  try {
    return readFileSync(file)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

/** Null for a path that is no percent-encoded UTF-8, or that holds a NUL. */
function decodedPath(path: string): string | null {
  try {
    const decoded = decodeURIComponent(path)
    return decoded.includes('\0') ? null : decoded
  } catch (malformed) {
    if (malformed instanceof URIError) return null
    throw malformed
  }
}

const notFound = { statusCode: 404, data: Buffer.from('Not found') }
const servedMsMax = 2_000
const lullMs = 2

interface Lull { readonly stir: () => void; readonly over: Promise<void> }

/** Over when nothing has stirred for 2 ms after the first time, at the latest after two seconds without a first time. */
function createLull(): Lull {
  let settle: () => void = () => undefined
  const over = new Promise<void>((resolve) => { settle = resolve })
  let timer = setTimeout(settle, servedMsMax)
  return {
    over,
    stir: () => {
      clearTimeout(timer)
      timer = setTimeout(settle, lullMs)
    },
  }
}
