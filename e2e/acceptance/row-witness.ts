import type { App } from '../app.ts'

/** What was seen of one tool row, and when: milliseconds since the epoch, as of the frame after the change. */
export interface Sighting { readonly at: number; readonly callId: string; readonly tool: string; readonly state: string; readonly numbers: string; readonly target: string }

declare global {
  interface Window { acceptanceSightings?: Sighting[] }
}

/** Notes every change of every tool row from now on, in the window itself. */
export async function watchRows({ window }: App): Promise<void> {
  await window.evaluate(() => {
    const seen: Sighting[] = globalThis.window.acceptanceSightings = []
    const last = new Map<string, string>()
    const look = (): void => {
      for (const row of document.querySelectorAll<HTMLElement>('[data-call-id]')) {
        const { callId = '', tool = '', state = '' } = row.dataset
        const numbers = row.querySelector('.tool-numbers')?.textContent ?? ''
        const target = row.querySelector('.tool-target')?.textContent ?? ''
        const now = `${tool} ${state} ${state === 'preview' ? numbers : ''} ${target}`
        if (last.get(callId) === now || seen.length > 20_000) continue
        last.set(callId, now)
        seen.push({ at: performance.timeOrigin + performance.now(), callId, tool, state, numbers, target })
      }
    }
    new MutationObserver(() => { requestAnimationFrame(look) }).observe(document, { childList: true, subtree: true, attributes: true, characterData: true })
  })
}

/** What was noted so far of one call, oldest first. */
export async function sightings({ window }: App, callId: string): Promise<readonly Sighting[]> {
  const all = await window.evaluate(() => globalThis.window.acceptanceSightings ?? [])
  return all.filter((sighting) => sighting.callId === callId)
}
