import react from '@vitejs/plugin-react'
import { resolve } from 'node:path'
import { defineConfig } from 'vite'
import { compiledWords } from '../../build/words/plugin.ts'

// The window on fixtures, built like the real one: `npx vite build -c src-renderer/dev/vite.config.mjs`.
export default defineConfig({
  root: resolve(import.meta.dirname),
  base: './',
  plugins: [compiledWords(), react()],
  worker: { format: 'es' },
  build: { target: 'chrome130', outDir: process.env.DEV_OUT ?? '/tmp/countersign-window', emptyOutDir: true, chunkSizeWarningLimit: 4_000, rolldownOptions: { input: resolve(import.meta.dirname, 'index.html') } },
})
