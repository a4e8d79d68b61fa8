import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { firstPage, hasNoTaskYet } from './first-page.ts'

const nothingChosen = { language: null, theme: null, density: null }

describe('the page that the window begins with', () => {
  it('has the first screen on it for somebody without a task, in the chosen language or the system\'s', () => {
    expect(firstPage(nothingChosen, 'en-GB', true)).toEqual({ file: 'first-en.html', root: 'lang="en"' })
    expect(firstPage(nothingChosen, 'de-AT', true)).toEqual({ file: 'first-de.html', root: 'lang="de"' })
    expect(firstPage({ ...nothingChosen, language: 'en' }, 'de-AT', true).file).toBe('first-en.html')
  })

  it('is empty for somebody with tasks', () => {
    expect(firstPage(nothingChosen, 'de-AT', false)).toEqual({ file: 'index.html', root: 'lang="de"' })
  })

  it('looks from the first frame on as the owner chose', () => {
    expect(firstPage({ language: 'de', theme: 'dark', density: 'compact' }, 'en-GB', true).root).toBe('lang="de" data-theme="dark" data-density="compact"')
  })
})

describe('a folder of tasks', () => {
  let folder: string
  beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'first-page-')) })
  afterEach(() => { rmSync(folder, { recursive: true, force: true }) })

  it('tells that there was no task yet while it is absent or empty', () => {
    expect(hasNoTaskYet(join(folder, 'tasks'))).toBe(true)
    mkdirSync(join(folder, 'tasks'))
    expect(hasNoTaskYet(join(folder, 'tasks'))).toBe(true)
    mkdirSync(join(folder, 'tasks', 'tsk_1'))
    expect(hasNoTaskYet(join(folder, 'tasks'))).toBe(false)
  })

  it('is taken for one with tasks when it cannot be read', () => {
    writeFileSync(join(folder, 'tasks'), '')
    expect(hasNoTaskYet(join(folder, 'tasks'))).toBe(false)
  })
})
