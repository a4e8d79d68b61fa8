import react from '@vitejs/plugin-react'
import { defineConfig } from 'electron-vite'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

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

export default defineConfig({
  main: {
    build: {
      target: nodeTarget,
      externalizeDeps: false,
      // Comments and blanks are half of it, and each start reads it all; names stay, so that a logged stack can be read.
      minify: true,
      rolldownOptions: { input: mainEntries, output: { minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } } } },
    },
  },
  preload: {
    build: {
      target: nodeTarget,
      externalizeDeps: false,
      rolldownOptions: {
        input: { index: at('src-preload/index.ts') },
        // A sandboxed preload is loaded as CommonJS.
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: at('src-renderer'),
    plugins: [react()],
    build: {
      target: chromeTarget,
      minify: true,
      rolldownOptions: { input: { index: at('src-renderer/index.html') } },
    },
  },
})
