// node build/bench/timeline/index.ts [PACKAGE …]: where the time of a cold start goes, mark by mark: the package in dist/linux-unpacked (or the named
// folders, to hold one build against another) and the bare window, in turns. Medians in milliseconds since the process was asked for.
import { createPackage, extractAll } from '@electron/asar'
import { cpSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { launcherFor } from '../../checks/other-account.ts'
import { sampleButton, startUntilPainted } from '../support/painted.ts'
import { median } from '../support/row.ts'
import { openStage, type Stage } from '../support/stage.ts'

const root = resolve(import.meta.dirname, '../../..')
const rounds = Number(process.env['ROUNDS'] ?? 7)
type Marks = Readonly<Record<string, number>>

/** A copy of a package, files linked, whose app prints its marks. */
async function marked(packageFolder: string, name: string): Promise<string> {
  const copy = join(root, 'dist/bench/timeline', name)
  rmSync(copy, { recursive: true, force: true })
  link(packageFolder, copy)
  const app = join(copy, 'unpacked')
  extractAll(join(packageFolder, 'resources/app.asar'), app)
  const manifest = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as { main: string }
  cpSync(join(import.meta.dirname, 'marks.cjs'), join(app, 'marks.cjs'))
  // An ES module's own imports are awaited by the runtime, a CommonJS file is done when it returns: each app stays of its kind.
  const isModule = manifest.main.endsWith('.mjs')
  writeFileSync(join(app, isModule ? 'marked.mjs' : 'marked.cjs'), isModule ? `import './marks.cjs'\nimport './${manifest.main}'\n` : `require('./marks.cjs')\nrequire('./${manifest.main}')\n`)
  writeFileSync(join(app, 'package.json'), JSON.stringify({ ...manifest, main: isModule ? 'marked.mjs' : 'marked.cjs' }))
  await createPackage(app, join(copy, 'resources/app.asar'))
  rmSync(app, { recursive: true, force: true })
  return copy
}

function link(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    const path = join(from, name)
    if (name === 'app.asar') continue
    if (!statSync(path).isDirectory()) linkSync(path, join(to, name))
    else if (from.endsWith('resources')) symlinkSync(path, join(to, name))
    else link(path, join(to, name))
  }
}

/** What the page itself noted, in milliseconds since the epoch. */
const pageMarks = `(() => {
  const at = (ms) => performance.timeOrigin + ms
  const [page] = performance.getEntriesByType('navigation')
  const files = performance.getEntriesByType('resource')
  const found = { 'page: time origin': at(0), 'page: HTML there': at(page.responseEnd), 'page: DOM interactive': at(page.domInteractive), 'page: scripts done': at(page.domContentLoadedEventStart), 'page: loaded': at(page.loadEventStart) }
  if (files.length > 0) found['page: last first file there'] = at(Math.max(...files.filter((file) => file.startTime < page.domContentLoadedEventStart).map((file) => file.responseEnd)))
  for (const paint of performance.getEntriesByType('paint')) found['page: ' + paint.name] = at(paint.startTime)
  return found
})()`

/** Looks each frame whether React has taken over the button; the bare window's needs nobody. */
const whenAnswered = `new Promise((answered) => {
  const look = () => {
    const button = [...document.querySelectorAll('button')].find(({ textContent }) => textContent.includes('Run the sample task'))
    if (location.protocol === 'data:' || (button !== undefined && Object.keys(button).some((key) => key.startsWith('__reactProps')))) answered(performance.timeOrigin + performance.now())
    else setTimeout(look, 2)
  }
  look()
})`

async function once(stage: Stage, executable: string, home: string): Promise<Marks> {
  const { app, afterMs } = await startUntilPainted(stage, sampleButton, { executable, home })
  try {
    const { startedAt } = app
    const answered = await app.evaluate(whenAnswered) as number
    while (!/^marks \{.*\}$/m.test(app.output)) await app.evaluate('new Promise((done) => { setTimeout(done, 50) })')
    // Paints are on record once the display has them.
    const ofPage = await app.evaluate(pageMarks) as Marks
    const ofMain = JSON.parse(/^marks (\{.*\})$/m.exec(app.output)?.[1] ?? '{}') as Marks
    return { ...Object.fromEntries(Object.entries({ ...ofMain, ...ofPage, 'BUTTON ANSWERS': answered }).map(([name, at]) => [name, at - startedAt])), 'BUTTON PAINTED': afterMs }
  } finally {
    await app.close()
  }
}

async function timeline(folders: readonly string[]): Promise<void> {
  const stage = await openStage()
  try {
    const bare = join(root, 'dist/bench/bare')
    const apps: { readonly name: string; readonly executable: string; readonly home: string; readonly seen: Marks[] }[] = []
    for (const [index, folder] of [bare, ...folders].entries()) {
      const scratch = stage.folder(`app-${index}`)
      const { executable } = await launcherFor(await marked(folder, `app-${index}`), join(scratch, 'launch'))
      apps.push({ name: index === 0 ? 'bare' : folder.replace(`${root}/`, ''), executable, home: join(scratch, 'home'), seen: [] })
    }
    for (let round = -1; round < rounds; round += 1) {
      for (const app of round % 2 === 0 ? apps : apps.toReversed()) {
        const home = process.env['FIRST'] === '1' ? stage.folder('home') : app.home
        const marks = await once(stage, app.executable, home)
        if (round >= 0) app.seen.push(marks)
      }
    }
    print(apps.map(({ name, seen }) => ({ name, medians: mediansOf(seen) })))
  } finally {
    await stage.close()
  }
}

function mediansOf(seen: readonly Marks[]): Marks {
  const names = [...new Set(seen.flatMap((marks) => Object.keys(marks)))]
  return Object.fromEntries(names.map((name) => [name, median(seen.flatMap((marks) => marks[name] ?? []))]))
}

function print(columns: readonly { readonly name: string; readonly medians: Marks }[]): void {
  const names = [...new Set(columns.flatMap(({ medians }) => Object.keys(medians)))]
  const last = columns.at(-1)?.medians ?? {}
  names.sort((one, other) => (last[one] ?? columns[0]?.medians[one] ?? 0) - (last[other] ?? columns[0]?.medians[other] ?? 0))
  for (const [index, { name }] of columns.entries()) console.log(`${index}: ${name}`)
  for (const name of names) console.log(name.padEnd(34) + columns.map(({ medians }) => (medians[name] === undefined ? '' : medians[name].toFixed(0)).padStart(8)).join(''))
}

const named = process.argv.slice(2).map((folder) => resolve(folder))
const folders = named.length > 0 ? named : [join(root, 'dist/linux-unpacked')]
for (const folder of folders) if (!existsSync(join(folder, 'resources/app.asar'))) throw new Error(`${folder} is no package`)
await timeline(folders)
