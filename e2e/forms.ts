import { expect } from '@playwright/test'
import type { App } from './app.ts'

export interface ProviderWords { readonly name: string; readonly baseUrl: string; readonly model: string; readonly key?: string; readonly api?: 'Chat Completions' | 'Responses' }

/** Adds a provider in Settings, as the owner does. */
export async function addProvider({ window }: App, words: ProviderWords): Promise<void> {
  await window.getByRole('button', { name: 'Settings', exact: true }).click()
  await window.getByRole('button', { name: 'Add a provider' }).click()
  const dialog = window.getByRole('dialog', { name: 'Add a provider' })
  await dialog.getByRole('textbox', { name: 'Name' }).fill(words.name)
  await dialog.getByRole('textbox', { name: 'Base URL' }).fill(words.baseUrl)
  await dialog.getByRole('textbox', { name: 'Models' }).fill(words.model)
  await dialog.getByRole('radio', { name: new RegExp(words.api ?? 'Chat Completions') }).check({ force: true })
  if (words.key !== undefined) await dialog.getByLabel('API key').fill(words.key)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog).toBeHidden()
}

export interface TaskWords { readonly folder: string; readonly title: string; readonly requirement: string; readonly criteria?: readonly string[]; readonly testCommand: string; readonly model: string }

/** Fills in New task for a folder and starts it. `facts` must be said of the folder before. */
export async function startTask(app: App, words: TaskWords, facts: RegExp): Promise<void> {
  const { window } = app
  await window.getByRole('navigation').getByRole('button', { name: 'New task' }).click()
  await window.getByRole('radio', { name: /A folder of yours/ }).check({ force: true })
  await app.willPickFolder(words.folder)
  await window.getByRole('button', { name: 'Choose folder' }).click()
  await expect(window.getByRole('textbox', { name: 'Path' })).toHaveValue(words.folder)
  await expect(window.locator('[data-folder]')).toContainText(facts)
  await window.getByRole('textbox', { name: 'Title' }).fill(words.title)
  await window.getByRole('textbox', { name: 'Requirement' }).fill(words.requirement)
  for (const [index, criterion] of (words.criteria ?? []).entries()) {
    if (index > 0) await window.getByRole('button', { name: 'Add a criterion' }).click()
    await window.getByRole('textbox', { name: `Criterion ${index + 1}` }).fill(criterion)
  }
  await window.getByRole('textbox', { name: 'Test command' }).fill(words.testCommand)
  for (const bot of ['Bot A, the lead', 'Bot B, the coder']) {
    await window.getByRole('button', { name: bot }).click()
    await window.getByRole('option', { name: words.model }).click()
  }
  await window.getByRole('button', { name: 'Start task' }).click()
  await expect(app.room.header).toBeVisible({ timeout: 60_000 })
}
