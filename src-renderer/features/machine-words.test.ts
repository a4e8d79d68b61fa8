import { expect, test } from 'vitest'
import { failure } from '../../src-preload/contract/failure.ts'
import { machineWords } from './machine-words.ts'

const isolated = { usable: true, level: 'bubblewrap' } as const

test('an OpenCode that has not told its version in time is not said to be missing', () => {
  expect(machineWords({ isolation: isolated, versions: { openCode: null }, openCodeFailure: failure('opencode-probe-timeout', 'x', 'y') })).toBe('Isolated · OpenCode not known yet')
})

test('one that cannot be used is', () => {
  expect(machineWords({ isolation: isolated, versions: { openCode: null }, openCodeFailure: failure('opencode-unsupported', 'x', 'y') })).toBe('Isolated · no OpenCode')
  expect(machineWords({ isolation: { usable: false, level: 'none' }, versions: { openCode: '1.18.30' }, openCodeFailure: null })).toBe('No isolation · OpenCode 1.18.30')
})
