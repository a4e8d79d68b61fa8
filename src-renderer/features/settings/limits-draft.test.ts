import { describe, expect, test } from 'vitest'
import { defaultSandboxLimits } from '../../../src-preload/contract/limits.ts'
import { sandboxLimitsSchema } from '../../../src-preload/contract/task.ts'
import { limitNames, limitProblems, limitRange, limitsDraft, limitsOf, type LimitsDraft } from './limits-draft.ts'

const gib = 1024 ** 3
const machine = 16 * gib
const draft = (change: Partial<LimitsDraft>): LimitsDraft => ({ ...limitsDraft(defaultSandboxLimits), ...change })

test('limits that are typed as they stand are what they were', () => {
  expect(limitsDraft(defaultSandboxLimits)).toEqual({ memoryBytesMax: '4096', processesMax: '512', commandCpuMsMax: '30', fileBytesMax: '2048' })
  expect(limitsOf(limitsDraft(defaultSandboxLimits))).toEqual(defaultSandboxLimits)
})

describe.each(limitNames)('%s', (name) => {
  const { min, max } = limitRange(name, machine)

  test('takes its least and its most, which the app takes as well', () => {
    for (const edge of [min, max]) {
      expect(limitProblems(draft({ [name]: ` ${String(edge)} ` }), defaultSandboxLimits, machine)).toEqual({})
      expect(sandboxLimitsSchema.safeParse(limitsOf(draft({ [name]: String(edge) }))).success).toBe(true)
    }
  })

  test.each([String(min - 1), String(max + 1), '', '-1', '1.5', '1,000', '4e3', '0x20', 'much', '9'.repeat(20)])('says between what it can be when “%s” is typed', (typed) => {
    expect(limitProblems(draft({ [name]: typed }), defaultSandboxLimits, machine)).toEqual({ [name]: expect.stringMatching(new RegExp(`${String(min)}.*${String(max)}`)) as string })
  })
})

test('memory is bounded by what the machine has, and a machine smaller than the least still can be given the least', () => {
  expect([limitRange('memoryBytesMax', 16 * gib).max, limitRange('memoryBytesMax', gib / 2).max, limitRange('memoryBytesMax', 999 * gib).max]).toEqual([16_384, 1_024, 262_144])
})

test('a limit of a larger machine may stay as it is', () => {
  const large = { ...defaultSandboxLimits, memoryBytesMax: 64 * gib }
  expect(limitProblems({ ...limitsDraft(large), processesMax: '600' }, large, machine)).toEqual({})
})
