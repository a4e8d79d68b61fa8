import { stubEntry, stubModels } from '../../e2e/models.ts'
import { makeProject } from '../../e2e/owners-project.ts'
import { StubProvider } from '../../e2e/stubs/provider.ts'
import { does } from '../../e2e/stubs/step.ts'
import { DrivenApp, withDrivenApps } from './support/driven-app.ts'
import { atMostMs, median, type BenchRow } from './support/row.ts'

const changedLines = 5_000
const rounds = 7
const limitMs = 300
const what = `diff of ${changedLines.toLocaleString('en-US')} changed lines, click to first interaction`

const lines = Array.from({ length: changedLines }, (_, index) => `export const value${index} = { id: ${index}, name: 'row ${index}' } as const\n`).join('')

/** Runs in the window: resolves with the milliseconds from the next click until the diff is drawn and its first scroll has been painted. */
const clickToInteraction = `new Promise((resolve) => {
  let clickedAt = 0
  addEventListener('click', (event) => { clickedAt = event.timeStamp }, { capture: true, once: true })
  const painted = (tell) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = tell; port2.postMessage(null) }
  const look = () => {
    const view = document.querySelector('.diff-view')
    const drawn = clickedAt > 0 && view !== null && [...view.querySelectorAll('*')].some((each) => (each.shadowRoot?.querySelectorAll('[data-line]').length ?? 0) > 5)
    if (!drawn) { requestAnimationFrame(look); return }
    const top = view.scrollTop
    view.scrollBy(0, 2000)
    requestAnimationFrame(() => painted(() => resolve(view.scrollTop > top ? performance.now() - clickedAt : NaN)))
  }
  requestAnimationFrame(look)
})`

/**
 * From the click on Review until its diff has been drawn and has answered the first turn of the wheel: all in the window, by its own clock.
 */
async function openAndScroll({ app: { window, room } }: DrivenApp): Promise<number> {
  await room.header.waitFor()
  const done = window.evaluate<number>(clickToInteraction)
  await window.getByRole('button', { name: 'Review', exact: true }).click()
  const took = await done
  await window.keyboard.press('Control+1')
  return took
}

/** A result of 5,000 changed lines, made by a real run, opened in Review. */
export function bench(): Promise<BenchRow[]> {
  return withDrivenApps(async () => {
    const provider = await StubProvider.start()
    provider.coder(does.write('/workspace/src/values.ts', lines), does.bash('true', 'Run the tests'), does.say('Written.'))
    const driven = await DrivenApp.launch({ providers: [stubEntry(provider)] })
    try {
      const { app } = driven
      await app.begin({ models: stubModels, source: { kind: 'folder', path: makeProject(app.ownerFolder, { 'README.md': '# Values\n' }), mounts: [] } })
      await app.room.approve('brief')
      await app.room.hasStatus('result-ready', 180_000)
      const took: number[] = []
      for (let round = 0; round < rounds; round += 1) took.push(await openAndScroll(driven))
      return [
        atMostMs(`${what}, first time`, took[0] ?? Number.NaN, limitMs),
        atMostMs(`${what}, median of ${rounds}`, median(took), limitMs),
      ]
    } finally {
      await driven.close()
      await provider.close()
    }
  })
}
