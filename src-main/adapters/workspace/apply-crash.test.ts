import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Failpoint } from '../../engine/failpoints.ts'
import { failureOf, makeBed, pictureOf, putFiles, taskId, treeAfter, treeBefore, valueOf, workOn, type Bed } from './test-bed.suite.ts'

let bed: Bed
beforeEach(async () => { bed = await makeBed(true) })
afterEach(() => bed.remove())

describe('an apply that fails or is interrupted', () => {
  const count = async (): Promise<number> => {
    const digest = await workOn(bed)
    let moments = 0
    valueOf(await bed.open(() => { moments += 1; return Promise.resolve() }).apply(taskId, digest))
    await bed.remove()
    bed = await makeBed(true)
    return moments
  }
  /** Runs an apply that meets `then` at its n-th moment. */
  const at = (n: number, then: (moment: Failpoint) => Promise<void>): ((moment: Failpoint) => Promise<void>) => {
    let seen = 0
    return async (moment) => {
      seen += 1
      if (seen === n) await then(moment)
    }
  }
  const renew = async (): Promise<void> => { await bed.remove(); bed = await makeBed(true) }

  test('by an error at any moment before it is complete puts everything back', async () => {
    const moments = await count()
    let undone = 0
    for (let n = 1; n <= moments; n += 1) {
      const digest = await workOn(bed)
      const met: Failpoint[] = []
      const failing = bed.open(at(n, (moment) => {
        met.push(moment)
        throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO', syscall: 'write' })
      }))
      const result = await failing.apply(taskId, digest)
      if (met.includes('apply:settled-one')) {
        expect(valueOf(result).detail, `moment ${n}`).toContain('could not be removed yet')
        expect(await bed.workspace.observeApply(taskId, digest)).toBe('applied')
      } else {
        expect(failureOf(result).message).toContain('EIO')
        expect(await pictureOf(bed.project), `moment ${n}`).toEqual(treeBefore)
        expect(await bed.workspace.observeApply(taskId, digest)).toBe('not-applied')
        valueOf(await bed.workspace.apply(taskId, digest))
        undone += 1
      }
      expect(await pictureOf(bed.project), `moment ${n}`).toEqual(treeAfter)
      await renew()
    }
    expect(undone).toBeGreaterThan(30)
  }, 120_000)

  test('by a crash at any moment is finished or taken back by the next start, never left half', async () => {
    const moments = await count()
    const outcomes = new Set<string>()
    for (let n = 1; n <= moments; n += 1) {
      const digest = await workOn(bed)
      await new Promise<void>((crashed) => {
        // A crash: from this moment on nothing of that apply ever runs again.
        void bed.open(at(n, () => { crashed(); return new Promise(() => undefined) })).apply(taskId, digest)
      })
      const seen = await bed.open().observeApply(taskId, digest)
      outcomes.add(seen)
      expect(await pictureOf(bed.project), `moment ${n}`).toEqual(seen === 'applied' ? treeAfter : treeBefore)
      valueOf(await bed.open().apply(taskId, digest))
      expect(await pictureOf(bed.project), `moment ${n}`).toEqual(treeAfter)
      await renew()
    }
    expect([...outcomes].sort()).toEqual(['applied', 'not-applied'])
  }, 120_000)

  test('by a crash after which the owner edited a file is unclear, and the edit stays', async () => {
    const digest = await workOn(bed)
    await new Promise<void>((crashed) => {
      void bed.open(async (moment) => {
        if (moment !== 'apply:step-done') return
        crashed()
        await new Promise(() => undefined)
      }).apply(taskId, digest)
    })
    await writeFile(join(bed.project, 'edit.txt'), 'the owner\'s')
    expect(await bed.open().observeApply(taskId, digest)).toBe('unclear')
    expect(await readFile(join(bed.project, 'edit.txt'), 'utf8')).toBe('the owner\'s')
    expect(failureOf(await bed.open().apply(taskId, digest)).code).toBe('apply-failed')
  })

  test('because the owner saves a file in the middle: refused, the rest put back, the owner\'s version stays', async () => {
    const digest = await workOn(bed)
    let steps = 0
    const racing = bed.open(async (moment) => {
      if (moment === 'apply:before-step' && ++steps === 1) await writeFile(join(bed.project, 'edit.txt'), 'the owner\'s')
    })
    expect(failureOf(await racing.apply(taskId, digest)).code).toBe('folder-changed')
    expect(await pictureOf(bed.project)).toEqual({ ...treeBefore, 'edit.txt': 'the owner\'s' })
  })

  test('because a file appears where a new one belongs: refused, put back, the owner\'s file stays', async () => {
    const digest = await workOn(bed)
    let steps = 0
    const racing = bed.open(async (moment) => {
      if (moment === 'apply:before-step' && ++steps === 1) await putFiles(bed.project, { 'new-link': 'the owner\'s' })
    })
    expect(failureOf(await racing.apply(taskId, digest)).code).toBe('folder-changed')
    expect(await pictureOf(bed.project)).toEqual({ ...treeBefore, 'new-link': 'the owner\'s' })
  })

  test('because a parent became a link in the middle: nothing is written through it', async () => {
    const digest = await workOn(bed)
    await mkdir(join(bed.dir, 'outside'))
    let steps = 0
    const racing = bed.open(async (moment) => {
      if (moment === 'apply:step-done' && ++steps === 1) await symlink(join(bed.dir, 'outside'), join(bed.project, 'new'))
    })
    expect((await racing.apply(taskId, digest)).ok).toBe(false)
    expect(await readdir(join(bed.dir, 'outside'))).toEqual([])
    expect(await pictureOf(bed.project)).toEqual({ ...treeBefore, new: `-> ${join(bed.dir, 'outside')}` })
  })
})
