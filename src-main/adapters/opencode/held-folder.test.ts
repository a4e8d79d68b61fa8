import { closeSync, linkSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openBelow, type HeldName } from './held-folder.ts'

let dir: string
let top: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'held-'))
  top = join(dir, 'workspace')
  mkdirSync(join(top, 'a/b'), { recursive: true })
  mkdirSync(join(dir, 'outside/b'), { recursive: true })
  writeFileSync(join(top, 'a/b/f'), 'inside')
  writeFileSync(join(dir, 'outside/b/f'), 'outside')
  symlinkSync('../outside', join(top, 'out'))
})
afterEach(() => { rmSync(dir, { recursive: true, force: true }) })

function told(names: readonly string[], heldName?: HeldName): string | null | undefined {
  const file = openBelow(top, names, heldName)
  if (typeof file !== 'number') return file
  try {
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

const linux: HeldName = ({ descriptor }) => `/proc/self/fd/${String(descriptor)}`
/** Names a folder by volume and number, as macOS does: here by looking for who has the number. */
const byNumber: HeldName = ({ descriptor }) => readlinkSync(`/proc/self/fd/${String(descriptor)}`)

describe.each([['as Linux names what is open', linux], ['by a name that is looked up', byNumber]])('a file that is opened name by name, %s', (_how, heldName) => {
  it('is the one below the folder', () => { expect(told(['a', 'b', 'f'], heldName)).toBe('inside') })

  it.each([[['a', 'b', 'g']], [['a', 'c', 'f']]])('is none where there is none: %s', (names) => { expect(told(names, heldName)).toBeNull() })

  it.each([[['out', 'b', 'f']], [['out']], [['a', 'b', 'f', 'x']]])('is not looked for through a link or a file: %s', (names) => { expect(told(names, heldName)).toBe('elsewhere') })

  it('is the one inside, or not told, when a folder on the way becomes a link while it is opened', () => {
    let looks = 0
    const swapping: HeldName = (folder) => {
      const name = heldName(folder)
      looks += 1
      if (looks === 2) { renameSync(join(top, 'a'), join(dir, 'moved')); symlinkSync('../outside', join(top, 'a')) }
      return name
    }
    expect(told(['a', 'b', 'f'], swapping)).not.toBe('outside')
  })
})

it.each([['that leads nowhere', (): string => join(dir, 'gone')], ['that leads to another folder', (): string => join(dir, 'outside')]])('nothing is told on a system with a name for what is open %s', (_what, heldName) => {
  linkSync(join(top, 'a/b/f'), join(dir, 'outside/f'))
  expect(told(['a', 'b', 'f'], heldName)).toBeUndefined()
  expect(told(['f'], heldName)).toBeUndefined()
})
