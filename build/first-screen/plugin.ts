import { runnerImport, type Plugin } from 'vite'
import { compiledWords } from '../words/plugin.ts'

/**
 * Adds pages to a build of the window: `first-en.html` and one for each other language, with the first screen of somebody without a task drawn
 * on it, so that it is painted before the window's code has been read. `drawer`: the file that draws them, src-renderer/first-screen.tsx.
 */
export function drawnFirstScreens(drawer: string): Plugin {
  return {
    name: 'drawn-first-screens',
    apply: 'build',
    // After the page itself.
    enforce: 'post',
    async generateBundle(_options, bundle) {
      const page = bundle['index.html']
      if (page?.type !== 'asset') throw new Error('The build has no index.html.')
      for (const [code, screen] of await screensByLanguage(drawer)) this.emitFile({ type: 'asset', fileName: `first-${code}.html`, source: withScreen(String(page.source), code, screen) })
    },
  }
}

async function screensByLanguage(drawer: string): Promise<ReadonlyMap<string, string>> {
  const { module } = await runnerImport<{ readonly firstScreens: ReadonlyMap<string, string> }>(drawer, { configFile: false, logLevel: 'error', plugins: [compiledWords()] })
  return module.firstScreens
}

const emptyRoot = '<div id="root"></div>'

/** The page with the screen on it. @throws when it has no place for that */
export function withScreen(page: string, code: string, screen: string): string {
  if (!page.includes(emptyRoot)) throw new Error(`The page has no ${emptyRoot}.`)
  // Nothing can be pressed before the page's script has seen to it that the press is kept.
  return page.replace('<script type="module"', '<script type="module" blocking="render"').replace(/<html[^>]*>/, `<html lang="${code}">`).replace(emptyRoot, () => `<div id="root">${screen}</div>`)
}
