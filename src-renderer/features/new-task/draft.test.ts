import { describe, expect, it } from 'vitest'
import { newTaskSchema, type FolderFacts } from '../../../src-preload/contract/methods.ts'
import type { CommandId } from '../../../src-preload/contract/ids.ts'
import type { ProviderView } from '../../../src-preload/contract/settings.ts'
import { moneyFromText, moneyText } from '../task-fields/budgets.ts'
import { emptyDraft, newTaskOf, problemsOf, withModels, type Draft } from './draft.ts'

const facts: FolderFacts = {
  path: '/home/me/x', label: 'x', git: null, files: 3, bytes: 10, notes: [], testCommands: [], refusal: null,
  proposals: [
    { id: 'node_modules', kind: 'dependency', label: 'node_modules', hostPath: '/home/me/x/node_modules', into: 'node_modules', mode: 'read-only', pathEntry: null },
    { id: 'nvm', kind: 'toolchain', label: 'Node', hostPath: '/home/me/.nvm', into: '/home/me/.nvm', mode: 'read-only', pathEntry: '/home/me/.nvm/bin' },
  ],
}
const views = [{ origin: 'built-in-demo', key: 'none-needed', remote: false, provider: { id: 'demo', label: 'Demo', baseUrl: 'http://127.0.0.1:1/v1', api: 'chat', models: [{ id: 'demo-1' }] } }] satisfies ProviderView[]
const full: Draft = withModels({ ...emptyDraft(null), path: '/home/me/x', title: ' Do it ', requirement: 'r', criteria: ['one', '  ', 'two'], testCommand: ' npm test ', declinedMounts: ['nvm'] }, views)

describe('a task that is being written', () => {
  it('becomes exactly what main accepts', () => {
    const task = newTaskOf(full, facts, 'c-1' as CommandId)
    expect(newTaskSchema.safeParse(task).success).toBe(true)
    expect(task).toMatchObject({ title: 'Do it', criteria: ['one', 'two'], testCommand: 'npm test', source: { kind: 'folder', mounts: [{ id: 'node_modules' }] } })
  })

  it('sends no test command rather than an empty one', () => {
    expect(newTaskOf({ ...full, testCommand: '  ' }, facts, 'c-1' as CommandId)?.testCommand).toBeNull()
  })

  it('names every field that is missing', () => {
    expect(Object.keys(problemsOf(emptyDraft(null), null)).sort()).toEqual(['coder', 'lead', 'path', 'requirement', 'title'])
  })

  it('does not start on a folder that was refused', () => {
    const refused = { ...facts, refusal: { code: 'folder-refused' as const, message: 'too large', todo: '' } }
    expect(problemsOf(full, refused)).toEqual({ path: 'too large' })
    expect(newTaskOf(full, refused, 'c-1' as CommandId)).toBeNull()
  })

  it('runs Bot B as the owner\'s settings say, and not as the OpenCode CLI when edits must ask', () => {
    expect(newTaskOf(full, facts, 'c-1' as CommandId)?.runtime).toBe('opencode-server')
    const cli: Draft = { ...full, runtime: 'opencode-run' }
    expect(newTaskOf(cli, facts, 'c-1' as CommandId)?.runtime).toBe('opencode-run')
    const asking: Draft = { ...cli, grant: { ...cli.grant, edits: 'ask' } }
    expect(Object.keys(problemsOf(asking, facts))).toEqual(['runtime'])
    expect(newTaskOf(asking, facts, 'c-1' as CommandId)).toBeNull()
  })

  it('replaces a model that is no longer configured', () => {
    expect(withModels({ ...full, coder: { providerId: 'gone', modelId: 'x' } }, views).coder).toEqual({ providerId: 'demo', modelId: 'demo-1' })
  })
})

describe('money', () => {
  it('goes from text to micro-dollars and back', () => {
    expect(['1,250', '1,250.75', '0,125'].map(moneyFromText), 'thousands as on the budget card').toEqual([1_250_000_000, 1_250_750_000, 125_000])
    expect(['', '2', '0.5', '$1,25', '1.', 'x', '-1'].map(moneyFromText)).toEqual([null, 2_000_000, 500_000, 1_250_000, 1_000_000, undefined, undefined])
    expect(moneyText(2_500_000)).toBe('2.5')
    expect(moneyText(null)).toBe('')
  })
})
