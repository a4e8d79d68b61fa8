import { methods, type MethodName } from '../src-preload/contract/methods.ts'
import type { Settings } from '../src-preload/contract/settings.ts'

/** What a fuzzer that looked at the window knows. */
export interface FuzzSeeds { readonly taskId: string; readonly approvalId: string; readonly digest: string; readonly settings: Settings }

type Call = readonly [method: string, input: unknown]

/** Methods that do something by themselves when their input is right: they get wrong inputs only. `approval.decide` is right only with the card's own digest, which is mutated. */
const acting: ReadonlySet<MethodName> = new Set(['task.create', 'task.runSample', 'task.stop', 'task.writeBrief', 'task.revise', 'settings.put', 'provider.put', 'provider.remove', 'provider.test', 'approval.decide', 'approval.shown', 'updates.look', 'updates.download', 'updates.install', 'login.set'])

/** A generator of numbers below one from a seed. Source: mulberry32, public domain. */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Messages close to what the schemas want, in batches: right shapes with one thing wrong, ids that exist in places where they do not belong, and garbage. */
export function* nearCalls(seed: number, seeds: FuzzSeeds, count: number, batch: number): Generator<readonly Call[]> {
  const random = seeded(seed)
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
  const names = Object.keys(methods) as MethodName[]
  const samples = samplesOf(seeds)
  const strange: readonly unknown[] = [null, true, 0, -1, 1e308, '', 'x', '__proto__', 'constructor', '\u0000', '\ud800', '../../etc/passwd', 'a'.repeat(10_000), [], {}, [[[]]], { toString: 1 }, seeds.taskId, seeds.approvalId, seeds.digest, `sha256:${'0'.repeat(64)}`]
  const mutated = (value: unknown, depth = 0): unknown => {
    if (depth > 4 || typeof value !== 'object' || value === null || random() < 0.15) return pick(strange)
    if (Array.isArray(value)) return random() < 0.3 ? Array.from({ length: 40 }, () => value[0] as unknown) : value.map((item: unknown) => (random() < 0.5 ? mutated(item, depth + 1) : item))
    const copy: Record<string, unknown> = { ...value }
    const key = pick(Object.keys(copy).concat('extra'))
    if (random() < 0.2) Reflect.deleteProperty(copy, key)
    else copy[key] = mutated(copy[key], depth + 1)
    return copy
  }
  let made = 0
  while (made < count) {
    const calls: Call[] = []
    while (calls.length < Math.min(batch, count - made)) {
      const method = pick(names)
      const input = mutated(random() < 0.1 ? samples[pick(names)] : samples[method])
      const name = random() < 0.03 ? pick(['', 'app', '__proto__', 'constructor', 'countersign:app.info', 'approval.decide ', 'APP.INFO', 'x'.repeat(5_000)]) : method
      // A mutation that happens to be right is not for a method that would act on it.
      if (name === method && acting.has(method) && methods[method].input.safeParse(input).success) continue
      calls.push([name, input])
    }
    made += calls.length
    yield calls
  }
}

/** One right input a method. */
function samplesOf({ taskId, approvalId, digest, settings }: FuzzSeeds): Readonly<Record<MethodName, unknown>> {
  const commandId = 'fuzz-1'
  const brief = { goal: 'g', scope: '', criteria: ['c'], testCommand: 't', excerpts: [{ id: 'a', content: 'b' }] }
  const model = { providerId: 'stub', modelId: 'stub-model' }
  const provider = { id: 'fuzz', label: 'Fuzz', baseUrl: 'http://127.0.0.1:9/v1', api: 'chat', models: [{ id: 'm' }] }
  return {
    'app.info': {}, 'login.set': { on: true }, 'link.take': {}, 'diagnostics.preview': {}, 'diagnostics.save': { digest }, 'room.snapshot': { taskId }, 'task.create': { commandId, title: 't', requirement: 'r', criteria: [], testCommand: null, source: { kind: 'folder', path: '/', mounts: [] }, models: { lead: model, coder: model }, budget: settings.defaults.budget, grant: settings.defaults.grant, revisionOf: null },
    'task.runSample': { commandId }, 'task.stop': { commandId, taskId }, 'task.writeBrief': { commandId, taskId, brief }, 'task.answer': { commandId, taskId, questionId: 'q', text: 'x' }, 'task.revise': { commandId, taskId, requirement: 'r' }, 'task.recover': { commandId, taskId, exit: 'mark-done' },
    'approval.shown': { approvalId, digest }, 'approval.decide': { commandId, approvalId, digest, verdict: 'approved', reason: null, standing: null }, 'grant.revoke': { commandId, taskId, grantId: 'grt_1' }, 'folder.pick': {}, 'folder.inspect': { path: '/nowhere' }, 'review.get': { taskId }, 'review.savePatch': { taskId },
    'settings.get': {}, 'settings.put': settings, 'providers.list': {}, 'provider.put': { provider, key: null }, 'provider.remove': { id: 'stub' }, 'provider.test': { id: 'stub', modelId: 'stub-model' },
    'audit.query': { taskId, text: 'x', beforeSeq: null, limit: 1 }, 'audit.verify': {}, 'audit.export': { taskId: null }, 'workspace.list': {}, 'workspace.remove': { taskId }, 'updates.get': {}, 'updates.look': {}, 'updates.download': {}, 'updates.install': {},
  }
}

/** Runs in the window: sends what only a page can make. Gives how many were answered by a value, or refused by the bridge before they left. */
export async function exoticCalls({ seed, count }: { readonly seed: number; readonly count: number }): Promise<number> {
  const bridge = window.countersign
  if (bridge === undefined) throw new Error('the window has no bridge')
  const deep = (depth: number): unknown => { let value: unknown = null; for (let at = 0; at < depth; at += 1) value = at % 2 === 0 ? [value] : { value }; return value }
  const cyclic: Record<string, unknown> = { a: 1 }
  cyclic['self'] = cyclic
  const makers: readonly (() => unknown)[] = [
    () => undefined, () => () => 1, () => Symbol('x'), () => 10n, () => new Map([[1, 2]]), () => new Set([1]), () => new Date(NaN), () => /x/g, () => new Uint8Array(1_000), () => new ArrayBuffer(8), () => new Error('x'), () => Promise.resolve(1), () => new Blob(['x']), () => document.body, () => window,
    () => cyclic, () => deep(200), () => deep(2_000), () => deep(20_000), () => new Proxy({}, { get: () => { throw new Error('trap') } }), () => ({ get taskId() { throw new Error('getter') } }), () => Object.create({ taskId: 'x' }) as unknown, () => 'x'.repeat(200_000), () => Array.from({ length: 5_000 }, (_, at) => at), () => ({ ['__proto__']: { taskId: 'x' } }), () => NaN, () => -0, () => Infinity,
  ]
  const names = ['app.info', 'room.snapshot', 'task.create', 'task.stop', 'approval.decide', 'approval.shown', 'grant.revoke', 'settings.put', 'provider.put', 'audit.query', 'workspace.remove', 'nothing', '', '__proto__']
  let answered = 0
  for (let at = 0; at < count; at += 1) {
    const make = makers[(seed + at * 7) % makers.length]
    const name: unknown = at % 50 === 0 ? make?.() : names[(seed + at * 3) % names.length]
    try {
      const result = (await bridge.call(name as never, make?.() as never)) as { readonly ok?: unknown }
      if (typeof result.ok === 'boolean') answered += 1
    } catch {
      // What cannot be copied out of the page is refused by Chromium before any code of the app sees it.
      answered += 1
    }
  }
  return answered
}
