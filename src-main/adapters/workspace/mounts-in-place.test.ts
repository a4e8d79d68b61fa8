import { expect, test } from 'vitest'
import { inTheirPlaces } from './mounts-in-place.ts'

test('where nothing can be mounted, dependencies are copied and toolchains stay where they are', () => {
  const mount = { id: 'm', label: 'm', mode: 'read-only' } as const
  expect(inTheirPlaces([
    { ...mount, kind: 'dependency', hostPath: '/Users/o/p/node_modules', into: 'node_modules', pathEntry: 'node_modules/.bin' },
    { ...mount, kind: 'toolchain', hostPath: '/Users/o/.nvm/v24', into: '/opt/toolchains/nvm-v24', pathEntry: '/opt/toolchains/nvm-v24/bin' },
    { ...mount, kind: 'toolchain', hostPath: '/Users/o/.cargo/registry', into: '/opt/toolchains/cargo/registry', pathEntry: null },
  ])).toEqual([
    { ...mount, kind: 'dependency', mode: 'copy', hostPath: '/Users/o/p/node_modules', into: 'node_modules', pathEntry: 'node_modules/.bin' },
    { ...mount, kind: 'toolchain', hostPath: '/Users/o/.nvm/v24', into: '/Users/o/.nvm/v24', pathEntry: '/Users/o/.nvm/v24/bin' },
    { ...mount, kind: 'toolchain', hostPath: '/Users/o/.cargo/registry', into: '/Users/o/.cargo/registry', pathEntry: null },
  ])
})
