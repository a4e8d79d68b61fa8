import { protocol, type ProtocolRequest, type ProtocolResponse } from 'electron'
import { readFileSync } from 'node:fs'
import { extname, isAbsolute, join, relative } from 'node:path'

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

/** What the page has by now. Each resolves at the latest after half a second. */
interface Served {
  /** The page itself. */
  readonly page: Promise<void>
  /** Its scripts: it evaluates them, and this process is free until it makes its first call. */
  readonly scripts: Promise<void>
}

/**
 * Serves `rendererDir` as `app://countersign/`, read-only, with a strict CSP; any path outside of it, and any that is not there, is a 404.
 * Files are read right here: through Chromium's network service the first of them would wait until that process is up. And at once: each is
 * read in less time than it takes to hear that another thread has read it. While the page waits for what it asked for, this process had
 * better not do anything long.
 */
export function serveApp(rendererDir: string): Served {
  const page = createLull()
  const scripts = createLull()
  // The newer `protocol.handle` first loads the runtime's whole fetch (30 ms here, before the first byte).
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- see above
  protocol.registerBufferProtocol('app', (request, callback) => {
    const response = answer(rendererDir, request)
    callback(response)
    if (response.mimeType === 'text/html') page.stir()
    if (response.mimeType === 'text/javascript') scripts.stir()
  })
  return { page: page.over, scripts: scripts.over }
}

function answer(rendererDir: string, request: ProtocolRequest): ProtocolResponse & { readonly mimeType?: string } {
  const url = new URL(request.url)
  const path = decodedPath(url.pathname === '/' ? '/index.html' : url.pathname)
  if (path === null) return notFound
  const file = join(rendererDir, path)
  const inside = relative(rendererDir, file)
  const mimeType = types[extname(file)]
  if (url.host !== 'countersign' || request.method !== 'GET' || inside.startsWith('..') || isAbsolute(inside) || mimeType === undefined) return notFound
  const data = contentOf(file)
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
const servedMsMax = 500
const lullMs = 2

interface Lull { readonly stir: () => void; readonly over: Promise<void> }

/** Over when nothing has stirred for 2 ms after the first time, at the latest after half a second without a first time. */
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
