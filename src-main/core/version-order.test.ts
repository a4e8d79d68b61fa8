import { expect, test } from 'vitest'
import { isNewer } from './version-order.ts'

/** The order that the specification itself gives, with more around it. */
const ascending = ['0.1.0', '0.9.9', '0.10.0', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta', '1.0.0-beta.2', '1.0.0-beta.11', '1.0.0-rc.1', '1.0.0', '1.0.1', '2.0.0-0', '10.0.0']

test('versions are ordered as their specification says, and none is newer than itself', () => {
  for (const [index, version] of ascending.entries()) {
    for (const [other, against] of ascending.entries()) expect(isNewer(version, against), `${version} after ${against}`).toBe(index > other)
  }
})

test('what is no version is never newer', () => {
  for (const nonsense of ['', '1', '1.2', 'v1.2.3', '1.2.3.4', 'latest', '1.2.x', '../9.9.9']) {
    expect(isNewer(nonsense, '0.0.1')).toBe(false)
    expect(isNewer('9.9.9', nonsense)).toBe(false)
  }
})

test('build metadata does not count', () => {
  expect(isNewer('1.0.0+2', '1.0.0+1')).toBe(false)
})
