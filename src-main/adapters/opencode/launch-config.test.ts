import { describe, expect, test } from 'vitest'
import { launchArgs, launchConfig, launchEnvironment, type Boot } from './launch-config.ts'

const boot: Boot = { password: 'PASSWORD-CANARY', nonce: 'nonce-1', port: 4_242, places: { workspace: '/workspace', home: '/home/agent', temporary: '/tmp', shell: '/opt/app/shell', proxyBaseUrl: 'http://127.0.0.1:7000/v1', controlPort: 4_096, searchPath: '/usr/local/bin:/usr/bin:/bin' } }
const rights = { edit: 'ask', bash: 'ask', question: 'allow' } as const
const spec = { token: 'TOKEN-CANARY', model: { api: 'chat', modelId: 'vendor/some-model', contextTokens: 1_000, outputTokens: 100 } } as const

interface Shape { permission: Record<string, string>; provider: { gw: { npm: string; name: string; options: Record<string, unknown>; models: { m1: { id: string; limit: unknown } } } }; shell: string; formatter: boolean; lsp: boolean; share: string }
const shape = (of: Parameters<typeof launchConfig>[0], version = '1.18.30', given: Parameters<typeof launchConfig>[1] = rights): Shape => launchConfig(of, given, boot, version) as unknown as Shape

describe('the generated configuration', () => {
  test('denies what it does not name, before all that it allows', () => {
    const { permission } = shape(spec)
    expect(Object.entries(permission)[0]).toEqual(['*', 'deny'])
    expect(Object.entries(permission).filter(([, action]) => action !== 'deny')).toEqual([['read', 'allow'], ['glob', 'allow'], ['grep', 'allow'], ['question', 'allow'], ['edit', 'ask'], ['bash', 'ask']])
    expect(shape(spec, '1.18.30', { edit: 'deny', bash: 'deny', question: 'deny' }).permission).toMatchObject({ edit: 'deny', bash: 'deny', question: 'deny' })
    expect(permission['external_directory']).toBe('deny')
  })

  test('sends the real model id under the alias, by the package of the wire API', () => {
    expect(shape(spec).provider.gw).toMatchObject({ npm: '@ai-sdk/openai-compatible', name: 'nonce-1', models: { m1: { id: 'vendor/some-model', limit: { context: 1_000, output: 100 } } } })
    expect(shape({ ...spec, model: { ...spec.model, api: 'responses' } }).provider.gw.npm).toBe('@ai-sdk/openai')
    expect(shape(spec).provider.gw.options).toEqual({ baseURL: 'http://127.0.0.1:7000/v1', apiKey: 'TOKEN-CANARY', chunkTimeout: false, headerTimeout: false })
  })

  test('leaves out of 1.17’s configuration what it would refuse', () => {
    expect(shape(spec, '1.17.18').provider.gw.options).toEqual({ baseURL: 'http://127.0.0.1:7000/v1', apiKey: 'TOKEN-CANARY' })
  })

  test('lets the turn go on after a denied call where calls are asked about', () => {
    expect(shape(spec)).toMatchObject({ experimental: { continue_loop_on_deny: true } })
    expect(shape(spec, '1.18.30', { edit: 'deny', bash: 'allow', question: 'deny' })).not.toHaveProperty('experimental')
  })

  test('puts the broker’s client in the shell’s place and turns helpers off', () => {
    expect(shape(spec)).toMatchObject({ shell: '/opt/app/shell', formatter: false, lsp: false, share: 'disabled' })
  })
})

describe('the environment of the agent', () => {
  test('holds nothing of the operator’s', () => {
    const env = launchEnvironment(launchConfig(spec, rights, boot, '1.18.30'), boot, { AWS_SECRET_ACCESS_KEY: 'OPERATOR-CANARY', PATH: '/home/me/bin', OPENCODE_CONFIG: '/home/me/x.json', npm_config_registry: 'https://OPERATOR-CANARY' }, { questions: true, plugins: false })
    expect(JSON.stringify(env)).not.toContain('OPERATOR-CANARY')
    expect(env['OPENCODE_CONFIG']).toBeUndefined()
    expect(env['PATH']).toBe('/usr/local/bin:/usr/bin:/bin')
  })

  test('gives npm no retries and ten seconds, unless the operator said otherwise in either case', () => {
    const of = (operator: Record<string, string>): Record<string, string> => Object.fromEntries(Object.entries(launchEnvironment({ plugin: [], instructions: [] }, boot, operator, { questions: true, plugins: false })).filter(([name]) => name.toLowerCase().startsWith('npm_')))
    expect(of({})).toEqual({ npm_config_fetch_retries: '0', npm_config_fetch_timeout: '10000' })
    expect(of({ NPM_CONFIG_FETCH_RETRIES: '4' })).toEqual({ NPM_CONFIG_FETCH_RETRIES: '4', npm_config_fetch_timeout: '10000' })
    expect(of({ npm_config_fetch_timeout: '7' })).toEqual({ npm_config_fetch_retries: '0', npm_config_fetch_timeout: '7' })
  })

  test('shows no secret on the command line', () => {
    expect(launchArgs(boot).join(' ')).not.toMatch(/CANARY/)
  })
})
