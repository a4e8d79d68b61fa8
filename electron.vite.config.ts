import react from '@vitejs/plugin-react'
import { defineConfig } from 'electron-vite'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { drawnFirstScreens } from './build/first-screen/plugin.ts'
import { withoutFailpoints } from './build/release/failpoints.ts'
import { compiledWords } from './build/words/plugin.ts'

const at = (path: string): string => resolve(import.meta.dirname, path)

// The oldest runtime that the app must run on (the stand-in of build/runtime): Node 20.18 and Chromium 130.
const nodeTarget = 'node20.18'
const chromeTarget = 'chrome130'

// Every dependency is bundled, so that the package is out/ and package.json and nothing else.
const mainEntries = Object.fromEntries(
  [
    ['index', at('src-main/index.ts')],
    ['proxy', at('src-main/proxy/entry.ts')],
    ['demo', at('src-main/demo/entry.ts')],
    ['countersign-proxy', at('src-main/proxy/countersign-proxy.ts')],
  ].filter((entry): entry is [string, string] => existsSync(entry[1] ?? '')),
)

/** Bundles of the main process. What tests steer has failpoints; what ships has none. */
function mainBundles(failpoints: boolean, outDir: string) {
  return {
    // What ships needs no parser of messages: they are compiled.
    define: { __FAILPOINTS__: String(failpoints), 'process.env.NODE_ENV': JSON.stringify('production') },
    plugins: [compiledWords(), ...(failpoints ? [] : [withoutFailpoints()])],
    build: {
      outDir,
      target: nodeTarget,
      externalizeDeps: false,
      // Comments and blanks are half of it, and each start reads it all; names stay, so that a logged stack can be read.
      minify: true,
      // CommonJS: what is required is there at once, while each ES module of a bundle costs turns of the loop that the window is waiting for.
      rolldownOptions: { input: mainEntries, output: { format: 'cjs' as const, entryFileNames: '[name].cjs', chunkFileNames: 'chunks/[name]-[hash].cjs', minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } } } },
    },
  }
}

const preload = {
  build: {
    target: nodeTarget,
    externalizeDeps: false,
    rolldownOptions: {
      input: { index: at('src-preload/index.ts') },
      // A sandboxed preload is loaded as CommonJS.
      output: { format: 'cjs' as const, entryFileNames: '[name].cjs' },
    },
  },
}

const renderer = {
  root: at('src-renderer'),
  plugins: [compiledWords(), react(), drawnFirstScreens(at('src-renderer/first-screen.tsx'))],
  // Grammars are chunks of their own for a worker, too.
  worker: { format: 'es' as const },
  build: {
    target: chromeTarget,
    minify: true,
    rolldownOptions: { input: { index: at('src-renderer/index.html') } },
  },
}

/** Set by build/runtime/build-app.ts: the main process alone, with failpoints, into this folder. */
const inspectableMain = process.env['COUNTERSIGN_INSPECTABLE_MAIN']

export default defineConfig(inspectableMain === undefined ? { main: mainBundles(false, 'out/main'), preload, renderer } : { main: mainBundles(true, inspectableMain) })
