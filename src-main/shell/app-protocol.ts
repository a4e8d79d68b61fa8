import { net, protocol } from 'electron'
import { isAbsolute, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'

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

/** Serves `rendererDir` as `app://countersign/`, read-only, with a strict CSP; any path outside of it is a 404. */
export function serveApp(rendererDir: string): void {
  protocol.handle('app', async (request) => {
    const url = new URL(request.url)
    const file = join(rendererDir, decodeURIComponent(url.pathname === '/' ? '/index.html' : url.pathname))
    const inside = relative(rendererDir, file)
    if (url.host !== 'countersign' || request.method !== 'GET' || inside.startsWith('..') || isAbsolute(inside)) {
      return new Response('Not found', { status: 404 })
    }
    const found = await net.fetch(pathToFileURL(file).toString())
    const headers = new Headers(found.headers)
    headers.set('Content-Security-Policy', contentSecurityPolicy)
    headers.set('X-Content-Type-Options', 'nosniff')
    return new Response(found.body, { status: found.status, headers })
  })
}
