import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { solvedShipping, solvedShippingPath } from './solution.ts'

const root = resolve(import.meta.dirname, '../../..')
const sampleDir = join(root, 'resources/sample')
const binaryPath = join(root, 'node_modules/opencode-linux-x64/bin/opencode')

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'countersign-sample-'))
  await cp(join(sampleDir, 'project'), join(dir, 'workspace'), { recursive: true })
  // The held tests name /workspace; here, without a sandbox, they are pointed at the copy.
  const held = await readFile(join(sampleDir, 'oracle/shipping.held.test.ts'), 'utf8')
  await writeFile(join(dir, 'shipping.held.test.ts'), held.replaceAll("'/workspace/", `'${dir}/workspace/`))
})
afterEach(() => rm(dir, { recursive: true }))

function bun(...args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((done) => {
    execFile(binaryPath, args, { cwd: join(dir, 'workspace'), env: { BUN_BE_BUN: '1', PATH: '/usr/bin:/bin', HOME: dir } }, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : Number(error.code), output: stdout + stderr })
    })
  })
}
const write = (text: string): Promise<void> => writeFile(join(dir, 'workspace', solvedShippingPath), text)
const heldTest = (): string => join(dir, 'shipping.held.test.ts')

test('the untouched sample fails its visible and its held tests, and keeps the style', async () => {
  const visible = await bun('test')
  expect(visible.output).toContain('6 fail')
  expect(visible.code).not.toBe(0)
  expect((await bun('test', heldTest())).code).not.toBe(0)
  expect(await bun('scripts/check-style.ts')).toMatchObject({ code: 0 })
})

test('the solution passes the visible tests, the style check and the held tests', async () => {
  await write(solvedShipping)
  expect(await bun('test')).toMatchObject({ code: 0 })
  const style = await bun('scripts/check-style.ts')
  expect(style).toEqual({ code: 0, output: expect.stringContaining('no rule broken') })
  expect(await bun('test', heldTest())).toMatchObject({ code: 0 })
})

test('the other reading of the boundary passes the visible tests and fails the held ones', async () => {
  const other = solvedShipping.replace('step.from <= value', 'step.from < value || (step.from === value && value !== 50_00)')
  expect(other).not.toBe(solvedShipping)
  await write(other)
  const visible = await bun('test')
  expect(visible, visible.output).toMatchObject({ code: 0 })
  const held = await bun('test', heldTest())
  expect(held.code).not.toBe(0)
  expect(held.output).toMatch(/\(fail\).*an order of 5000 cents pays 190/)
})
