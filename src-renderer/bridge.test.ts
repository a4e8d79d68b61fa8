import { afterEach, describe, expect, it, vi } from 'vitest'
import { call } from './bridge.ts'

afterEach(() => { vi.unstubAllGlobals(); vi.restoreAllMocks() })

const bridged = (answer: () => unknown): void => { vi.stubGlobal('window', { countersign: { call: answer } }) }

describe('call', () => {
  it('answers with a value when the bridge cannot copy what it is given', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    bridged(() => { throw new TypeError('Electron contextBridge recursion depth exceeded') })
    await expect(call('app.info', {})).resolves.toMatchObject({ ok: false, error: { code: 'invalid-input', message: expect.stringContaining('recursion depth') as string } })
  })

  it('answers with a value when the bridge breaks later, and when there is none', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    bridged(() => Promise.reject(new Error('gone')))
    await expect(call('app.info', {})).resolves.toMatchObject({ ok: false })
    vi.stubGlobal('window', {})
    await expect(call('app.info', {})).resolves.toMatchObject({ ok: false, error: { code: 'unavailable' } })
  })

  it('hands on what main answered', async () => {
    bridged(() => Promise.resolve({ ok: true, value: 1 }))
    await expect(call('app.info', {})).resolves.toEqual({ ok: true, value: 1 })
  })
})
