import type { Locator } from '@playwright/test'
import { chmodSync, copyFileSync, constants, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { give, newOwnerFolder } from '../owner-folder.ts'
import { acceptanceFolder, leaveReport, runtimesOfOne, versionsOf } from './report.ts'

const hanging = 'a probe that hangs'

/** A file that the app was pointed to, and that becomes something else while it runs. */
class ChosenFile {
  readonly path: string
  readonly #next: string

  constructor(ownerFolder: string) {
    this.path = join(ownerFolder, 'chosen-opencode')
    this.#next = join(ownerFolder, 'next-opencode')
  }

  becomes(script: string): void {
    writeFileSync(this.#next, `#!/bin/sh\n${script}\n`)
    this.#swap()
  }

  becomesReal(from: string): void {
    copyFileSync(from, this.#next, constants.COPYFILE_FICLONE)
    this.#swap()
  }

  #swap(): void {
    chmodSync(this.#next, 0o755)
    give(this.#next)
    renameSync(this.#next, this.path)
  }
}

for (const openCode of runtimesOfOne()) {
  test(`4: a version probe that hangs, and OpenCodes that are not supported; then ${openCode.version} without a restart`, async () => {
    const ownerFolder = newOwnerFolder()
    const chosen = new ChosenFile(ownerFolder)
    const name = `4-version-probe-${openCode.version}`
    const told: { readonly offered: string; readonly words: string; readonly afterMs: number }[] = []
    chosen.becomes('exec sleep 600')
    const app = await App.launch({ ownerFolder, env: { COUNTERSIGN_OPENCODE_BIN: chosen.path } })
    try {
      const { window, room } = app
      const button = window.getByRole('button', { name: 'Run the sample task' })
      const refusal = window.locator('[role="alert"], .notice').filter({ hasText: 'OpenCode' }).first()
      const tryOnce = async (offered: string, words: RegExp): Promise<void> => {
        const begun = Date.now()
        await button.click()
        if (offered === hanging) {
          await expect(window.getByText('Asking OpenCode for its version'), 'what it waits for').toBeVisible()
          await window.screenshot({ path: join(acceptanceFolder, `${name}-waits.png`) })
        }
        await expect(refusal, `${offered} is refused with the reason`).toContainText(words, { timeout: 90_000 })
        told.push({ offered, words: await refusal.innerText(), afterMs: Date.now() - begun })
        expect(await app.audit(), 'nothing was begun').toEqual([])
      }
      await tryOnce(hanging, /did not tell its version within 3,?000 ms/)
      await window.screenshot({ path: join(acceptanceFolder, `${name}-hangs.png`) })
      for (const [version, why] of [['0.15.0', /0\.15\.0 is too old/], ['2.0.0', /2\.0\.0 is a new generation/], ['1.19.0-beta', /1\.19\.0-beta is a pre-release/]] as const) {
        chosen.becomes(`echo ${version}`)
        await tryOnce(version, why)
        await window.screenshot({ path: join(acceptanceFolder, `${name}-${version}.png`) })
      }
      chosen.becomesReal(openCode.path)
      const begun = Date.now()
      const clicks = await clickUntilKnown(button, room.header, refusal)
      await room.approve('brief')
      await expect(room.tools({ tool: 'read' }).first()).toBeVisible({ timeout: 90_000 })
      const { versions } = await app.call('app.info', {})
      expect(versions.openCode).toBe(openCode.version)
      leaveReport(name, { passed: true, openCode, versions: await versionsOf(app), told, recoveredAfterMs: Date.now() - begun, clicks, events: (await app.audit()).map(({ at, type }) => ({ at, type })) })
    } finally {
      await app.close()
    }
  })
}

/** On a busy machine the file, read for the first time, may take longer than the probe waits: then the same click is given again, and the report says how often. */
async function clickUntilKnown(button: Locator, header: Locator, refusal: Locator): Promise<number> {
  const late = refusal.filter({ hasText: /did not tell its version/ })
  for (let clicks = 1; ; clicks += 1) {
    await button.click()
    await expect(late, 'the words about the last try have gone').toHaveCount(0)
    await expect(header.or(late).first(), 'it begins, or says why not').toBeVisible({ timeout: 60_000 })
    if (await header.isVisible()) return clicks
    expect(clicks, 'clicks without an answer of the probe').toBeLessThan(5)
  }
}
