import { afterEach, expect, test } from 'vitest'
import { bounded, openCoderBench, type CoderBench } from './coder-bench.ts'

const atOnce = 12
let bench: CoderBench
afterEach(async () => { await bench.close() })

test('every route of OpenCode\'s server is 401 without the password and with another one, whatever is asked', bounded, async () => {
  bench = await openCoderBench()
  await bench.start()
  const { body } = await bench.foreign('GET', '/doc')
  const { paths } = body as { readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>> }
  const routes = [...Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => [method.toUpperCase(), path.replaceAll(/\{[^}]*\}/g, 'x')] as const)), ['GET', '/'] as const, ['GET', '/doc'] as const, ['GET', '/no/such/route'] as const]
  expect(routes.length, 'its own list of routes').toBeGreaterThan(50)
  const tries = routes.flatMap(([method, path]) => [null, '', 'another'].map((password) => ({ method, path, password })))
  const open: string[] = []
  for (let at = 0; at < tries.length; at += atOnce) {
    await Promise.all(tries.slice(at, at + atOnce).map(async ({ method, path, password }) => {
      const { status } = await bench.control().request(method, path, password, ['POST', 'PUT', 'PATCH'].includes(method) ? {} : undefined)
      if (status !== 401) open.push(`${method} ${path} with ${JSON.stringify(password)}: ${String(status)}`)
    }))
  }
  expect(open).toEqual([])
  // With it the same server answers.
  expect(await bench.foreign('GET', '/session')).toMatchObject({ status: 200 })
})
