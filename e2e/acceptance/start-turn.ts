import { mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { acceptanceFolder } from './report.ts'

const folder = join(acceptanceFolder, '.starting')
const lookEveryMs = 100

/** Runs `start` while no other worker's runs: apps and coders begin one after the other, and then stand still side by side. */
export async function inTurn<T>(start: () => Promise<T>): Promise<T> {
  // Made by one worker alone, whoever asks at the same time; the runner begins with an empty folder.
  while (!made()) await pause(lookEveryMs)
  try {
    return await start()
  } finally {
    rmdirSync(folder)
  }
}

function made(): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}
