import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'

const key = 'exchange-secret-0123456789abcdef'
const token = 'short-lived-token-0123456789'

interface ExchangeAnswer { readonly status: number; readonly json: object }

/** An exchange endpoint on loopback that answers what `next` says and records what came. */
async function startExchange(next: () => ExchangeAnswer): Promise<{ readonly url: string; readonly asked: { readonly path: string; readonly form: Record<string, string>; readonly authorization: string | undefined }[]; close(): Promise<void> }> {
  const asked: { path: string; form: Record<string, string>; authorization: string | undefined }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => { body += piece }).on('end', () => {
      asked.push({ path: `${request.method ?? ''} ${request.url ?? ''}`, form: Object.fromEntries(new URLSearchParams(body)), authorization: request.headers.authorization })
      const { status, json } = next()
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
    })
  })
  await new Promise<void>((listening) => { server.listen(0, '127.0.0.1', listening) })
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/oauth/token`, asked,
    close: () => new Promise((closed) => { server.closeAllConnections(); server.close(() => { closed() }) }),
  }
}

test('a provider whose key is exchanged is entered in Settings, and its test exchanges and calls for real: a refusal in its own words, then an answer', async ({ provider }) => {
  let answer: ExchangeAnswer = { status: 401, json: { error: 'invalid_client', error_description: 'This client has no subscription' } }
  const exchange = await startExchange(() => answer)
  const app = await App.launch()
  const { window } = app
  try {
    await window.getByRole('button', { name: 'Settings', exact: true }).click()
    await window.getByRole('button', { name: 'Add a provider' }).click()
    const dialog = window.getByRole('dialog', { name: 'Add a provider' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Exchanging')
    await dialog.getByRole('textbox', { name: 'Base URL' }).fill(provider.baseUrl)
    await dialog.getByRole('textbox', { name: 'Models' }).fill('stub-model')
    await dialog.getByLabel('API key').fill(key)
    await dialog.getByRole('button', { name: /The key is/ }).click()
    await window.getByRole('option', { name: 'exchanged: OAuth 2.0 client credentials' }).click()
    await dialog.getByRole('textbox', { name: 'Exchange address' }).fill(exchange.url)
    await dialog.getByRole('textbox', { name: 'Scope' }).fill('inference')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect(dialog, 'without a client id it is not saved').toContainText('The client id that belongs to this secret.')
    await dialog.getByRole('textbox', { name: 'Client id' }).fill('countersign')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect(dialog).toBeHidden()

    const card = window.locator('[data-provider="exchanging"]')
    await expect(card).toContainText(`key exchanged at ${new URL(exchange.url).host}`)
    expect([exchange.asked, provider.asked], 'nothing is sent before the owner asks for it').toEqual([[], []])
    const tries = card.getByRole('button', { name: 'Test: Exchanging' })

    await tries.click()
    await expect(card.getByRole('alert')).toContainText('could not be exchanged for a token: it answered with status 401: This client has no subscription')
    await expect(card.getByRole('alert')).toContainText('exchange address')
    expect(provider.asked, 'no call without a token').toEqual([])

    answer = { status: 200, json: { token_type: 'bearer' } }
    await tries.click()
    await expect(card.getByRole('alert')).toContainText('its answer has no token')

    answer = { status: 200, json: { access_token: token, token_type: 'bearer', expires_in: 600 } }
    await tries.click()
    await expect(card.getByRole('status')).toContainText(/^200, stub-model answered in /)
    expect(new Set(exchange.asked.map(({ path }) => path))).toEqual(new Set(['POST /oauth/token']))
    expect(exchange.asked.at(-1)?.form).toEqual({ grant_type: 'client_credentials', client_id: 'countersign', client_secret: key, scope: 'inference' })
    expect(provider.asked.map(({ headers, model }) => [headers.authorization, model])).toEqual([[`Bearer ${token}`, 'stub-model']])
    await expect(window.getByRole('main'), 'neither is ever shown').not.toContainText(new RegExp(`${key}|${token}`))
  } finally {
    await app.close()
    await exchange.close()
  }
})
