import { createHash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { stubEntry, stubModels } from '../models.ts'
import { give, newOwnerFolder } from '../owner-folder.ts'
import { does } from '../stubs/step.ts'

const image = Buffer.alloc(300_000, 'a new version')
const description = (version: string, sha512 = createHash('sha512').update(image).digest('base64')): string => `version: ${version}\nfiles:\n  - url: new.AppImage\n    sha512: ${sha512}\n    size: ${image.length}\npath: new.AppImage\nsha512: ${sha512}\nreleaseDate: '2026-11-30T00:00:00.000Z'\n`

/** Where a release's package would look; written beside the test build only while this file runs. */
const address = resolve(import.meta.dirname, '../../dist/inspectable/linux-unpacked/resources/app-update.yml')

let ownerFolder: string
let server: Server
let answer: (name: string, response: ServerResponse) => void
test.beforeEach(async () => {
  ownerFolder = newOwnerFolder()
  server = createServer((request, response) => { answer(new URL(request.url ?? '/', 'http://x').pathname.slice(1), response) })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  writeFileSync(address, `provider: generic\nurl: http://127.0.0.1:${(server.address() as AddressInfo).port}\nupdaterCacheDirName: countersign-updates\n`, { mode: 0o644 })
})
test.afterEach(() => {
  rmSync(address, { force: true })
  server.closeAllConnections()
  server.close()
  rmSync(ownerFolder, { recursive: true, force: true })
})
test.setTimeout(240_000)

test('Settings shows what an update server answers: nothing, garbage, an older, a newer and a tampered version; a good one waits while a task works', async ({ provider }) => {
  provider.coder(does.write('/workspace/poem.txt', 'half of it\n'.repeat(400), { half: 'until-released' }))
  // As a mounted AppImage says where it came from.
  const appImage = join(ownerFolder, 'Countersign.AppImage')
  writeFileSync(appImage, 'the present version')
  give(appImage)
  let asked = 0
  answer = () => { asked += 1 }
  const app = await App.launch({ ownerFolder, providers: [stubEntry(provider)], env: { APPIMAGE: appImage } })
  try {
    const { window } = app
    await window.getByRole('button', { name: 'Settings', exact: true }).click()
    await window.getByRole('button', { name: 'Updates' }).click()
    const state = window.locator('[data-update]')
    await expect(state).toHaveAttribute('data-update', 'idle')
    expect(asked, 'nothing is asked of any server before the owner wants it').toBe(0)

    const held: ServerResponse[] = []
    answer = (_name, response) => { held.push(response) }
    const look = window.getByRole('button', { name: 'Look now' })
    await look.click()
    await expect(state).toHaveAttribute('data-update', 'checking')
    await expect.poll(() => held.length).toBe(1)
    held[0]?.writeHead(503).end()
    await expect(state).toHaveAttribute('data-update', 'failed')
    await expect(state).toContainText('This version goes on as it is')

    answer = (_name, response) => { response.end('<html>sign in</html>') }
    await look.click()
    await expect(state).toHaveAttribute('data-update', 'failed')
    answer = (_name, response) => { response.end(description('0.0.1')) }
    await look.click()
    await expect(state).toHaveAttribute('data-update', 'current')

    let bytes = Buffer.from(image).fill('x', 0, 10)
    answer = (name, response) => { response.end(name.endsWith('.yml') ? description('9.0.0') : bytes) }
    await look.click()
    await expect(state).toHaveAttribute('data-update', 'found')
    await window.getByRole('button', { name: 'Download' }).click()
    await expect(state).toHaveAttribute('data-update', 'failed')
    await expect(state).toContainText('not the one that was released')

    bytes = image
    await look.click()
    await expect(state).toHaveAttribute('data-update', 'found')
    await app.begin({ title: 'A task at work', models: stubModels })
    await window.getByRole('option', { name: /A task at work/ }).click()
    await app.room.approve('brief')
    await provider.halfway()
    await window.getByRole('button', { name: 'Settings', exact: true }).click()
    await window.getByRole('button', { name: 'Updates' }).click()
    await window.getByRole('button', { name: 'Download' }).click()
    await expect(state).toHaveAttribute('data-update', 'ready')
    await expect(state).toContainText('It waits: a task is running.')
    await expect(window.getByRole('button', { name: 'Install and restart' })).toBeDisabled()
    await window.screenshot({ path: 'dist/screens/settings-updates-waiting.png' })
  } finally {
    await app.close()
  }
})
