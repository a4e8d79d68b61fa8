import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request, type ClientRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import electronUpdater from 'electron-updater'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createUpdateSource } from './update-source.ts'

// Where Electron's network is not to be had, Node's takes its place below the same checks; all else is the updater that ships.
const require = createRequire(createRequire(import.meta.url).resolve('electron-updater'))
interface Task { readonly destination: string; readonly options: { readonly cancellationToken: { createPromise(run: (resolve: (path: string) => void, reject: (error: Error) => void, onCancel: (stop: () => void) => void) => void): Promise<string> }; readonly headers?: object } }
interface Executor { createRequest(options: object, onResponse: (response: IncomingMessage) => void): ClientRequest; doDownload(request: object, task: object, redirects: number): void }
const { HttpExecutor, configureRequestUrl } = require('builder-util-runtime') as { readonly HttpExecutor: new () => Executor; readonly configureRequestUrl: (url: URL, options: object) => void }

class NodeExecutor extends HttpExecutor {
  override createRequest(options: object, onResponse: (response: IncomingMessage) => void): ClientRequest {
    return request(options, onResponse)
  }

  download(from: URL, destination: string, options: Task['options']): Promise<string> {
    return options.cancellationToken.createPromise((resolve, reject, onCancel) => {
      const requestOptions = { headers: options.headers }
      configureRequestUrl(from, requestOptions)
      this.doDownload(requestOptions, { destination, options, onCancel, responseHandler: null, callback: (error?: Error | null) => { if (error == null) resolve(destination); else reject(error) } }, 0)
    })
  }
}

const image = Buffer.alloc(300_000, 'a new version')
const sha512 = (bytes: Buffer): string => createHash('sha512').update(bytes).digest('base64')
const file = 'Countersign-2.0.0-x64.AppImage'

let dir = ''
let server: Server
let url = ''
/** What the server does with each name; a test changes it. */
let answers: Record<string, (response: ServerResponse) => void> = {}

function release(version: string, digest = sha512(image)): string {
  return `version: ${version}\nfiles:\n  - url: ${file}\n    sha512: ${digest}\n    size: ${image.length}\npath: ${file}\nsha512: ${digest}\nreleaseDate: '2026-11-30T00:00:00.000Z'\n`
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'cs-update-'))
  answers = { 'latest-linux.yml': (response) => { response.end(release('2.0.0')) }, [file]: (response) => { response.end(image) } }
  server = createServer((request, response) => {
    const answer = answers[(request.url ?? '').split('?')[0]?.slice(1) ?? '']
    if (answer === undefined) response.writeHead(404).end()
    else answer(response)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => { server.once('listening', resolve) })
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  process.env['APPIMAGE'] = join(dir, 'Countersign-1.0.0-x64.AppImage')
  writeFileSync(process.env['APPIMAGE'], 'the old version')
})

afterEach(async () => {
  delete process.env['APPIMAGE']
  server.closeAllConnections()
  await new Promise((resolve) => { server.close(resolve) })
  rmSync(dir, { recursive: true, force: true })
})

function source() {
  const path = join(dir, 'app-update.yml')
  writeFileSync(path, `provider: generic\nurl: ${url}\nupdaterCacheDirName: countersign-updater\n`)
  const app = { version: '1.0.0', name: 'countersign', isPackaged: true, appUpdateConfigPath: path, userDataPath: join(dir, 'data'), baseCachePath: join(dir, 'cache'), whenReady: () => Promise.resolve(), relaunch: () => undefined, quit: () => undefined, onQuit: () => undefined }
  const updater = new electronUpdater.AppImageUpdater(null, app)
  updater.logger = null
  Object.assign(updater, { httpExecutor: new NodeExecutor() })
  return createUpdateSource(updater, () => new electronUpdater.CancellationToken())
}

const never = new AbortController().signal
const pending = (): readonly string[] => { const folder = join(dir, 'cache/countersign-updater/pending'); return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.AppImage') && !name.startsWith('temp-')) : [] }

describe('electron-updater against a server on loopback', () => {
  test('finds the newer version, downloads it and has it verified', async () => {
    const from = source()
    expect(await from.check(never)).toEqual({ ok: true, value: '2.0.0' })
    const shares: number[] = []
    expect(await from.download(never, (share) => { shares.push(share) })).toEqual({ ok: true, value: null })
    expect(pending()).toEqual([file])
    expect(shares.every((share) => share >= 0 && share <= 1)).toBe(true)
  })

  test('a file that is not what its release says is thrown away', async () => {
    answers[file] = (response) => { response.end(Buffer.alloc(image.length, 'something else')) }
    const from = source()
    await from.check(never)
    expect(await from.download(never, () => undefined)).toMatchObject({ ok: false, error: { code: 'digest-mismatch' } })
    expect(pending()).toEqual([])
  })

  test('a release without a digest is not downloaded', async () => {
    answers['latest-linux.yml'] = (response) => { response.end(release('2.0.0').replaceAll(/ *sha512: .*\n/g, '')) }
    const from = source()
    await from.check(never)
    expect((await from.download(never, () => undefined)).ok).toBe(false)
    expect(pending()).toEqual([])
  })

  test('an older version is named as what it is, and the updater itself does not download it', async () => {
    answers['latest-linux.yml'] = (response) => { response.end(release('0.9.0')) }
    const from = source()
    expect(await from.check(never)).toEqual({ ok: true, value: '0.9.0' })
    expect((await from.download(never, () => undefined)).ok).toBe(false)
    expect(pending()).toEqual([])
  })

  test('a download that is cut off is a failure, and nothing of it is kept as a version', async () => {
    answers[file] = (response) => { response.writeHead(200, { 'content-length': image.length }); response.write(image.subarray(0, 1_000), () => { response.destroy() }) }
    const from = source()
    await from.check(never)
    expect(await from.download(never, () => undefined)).toMatchObject({ ok: false, error: { code: 'unavailable', message: expect.stringMatching(/ECONNRESET|aborted|ended/i) } })
    expect(pending()).toEqual([])
  })

  test('a download that stands still ends when it is told to', async () => {
    const stopping = new AbortController()
    answers[file] = (response) => { response.writeHead(200, { 'content-length': image.length }); response.write(image.subarray(0, 1_000), () => { stopping.abort() }) }
    const from = source()
    await from.check(never)
    expect(await from.download(stopping.signal, () => undefined)).toMatchObject({ ok: false, error: { code: 'unavailable', message: expect.stringContaining('cancelled') } })
    expect(pending()).toEqual([])
  })

  test.each([
    ['absent', () => { answers = {} }],
    ['broken', () => { answers['latest-linux.yml'] = (response) => { response.writeHead(500).end('no') } }],
    ['talking nonsense', () => { answers['latest-linux.yml'] = (response) => { response.end('<html>') } }],
  ])('a server that is %s is a failure in words', async (_how, arrange) => {
    arrange()
    expect(await source().check(never)).toMatchObject({ ok: false, error: { code: 'unavailable' } })
  })
})
