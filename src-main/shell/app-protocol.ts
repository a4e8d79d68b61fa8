import { protocol, type ProtocolRequest, type ProtocolResponse } from 'electron'
import { readFile } from 'node:fs/promises'
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

/**
 * Serves `rendererDir` as `app://countersign/`, read-only, with a strict CSP; any path outside of it, and any that is not there, is a 404.
 * Files are read right here: through Chromium's network service the first of them would wait until that process is up. While the page is
 * being served this process had better not do anything long: what is given resolves when the page has asked for its scripts and has them, at
 * the latest after half a second.
 */
export function serveApp(rendererDir: string): Promise<void> {
  const scripts = createLull(scriptsLullMs)
  // The newer `protocol.handle` first loads the runtime's whole fetch (30 ms here, before the first byte).
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- see above
  protocol.registerBufferProtocol('app', (request, callback) => {
    void answer(rendererDir, request).then((response) => {
      callback(response)
      if (response.mimeType === 'text/javascript') scripts.stir()
    })
  })
  return scripts.over
}

async function answer(rendererDir: string, request: ProtocolRequest): Promise<ProtocolResponse & { readonly mimeType?: string }> {
  const url = new URL(request.url)
  const path = decodedPath(url.pathname === '/' ? '/index.html' : url.pathname)
  if (path === null) return notFound
  const file = join(rendererDir, path)
  const inside = relative(rendererDir, file)
  const mimeType = types[extname(file)]
  if (url.host !== 'countersign' || request.method !== 'GET' || inside.startsWith('..') || isAbsolute(inside) || mimeType === undefined) return notFound
  const data = await readFile(file).catch(() => null)
  return data === null ? notFound : { mimeType, charset: 'utf-8', data, headers: { 'Content-Security-Policy': contentSecurityPolicy, 'X-Content-Type-Options': 'nosniff' } }
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
const scriptsLullMs = 2

interface Lull { readonly stir: () => void; readonly over: Promise<void> }

/** Over when nothing has stirred for `lullMs` after the first time, at the latest after half a second without a first time. */
function createLull(lullMs: number): Lull {
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
