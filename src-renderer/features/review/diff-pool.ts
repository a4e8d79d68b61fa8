import { getHighlighterIfLoaded, preloadHighlighter } from '@pierre/diffs'
import { WorkerPoolManager } from '@pierre/diffs/worker'
import { useEffect, useState } from 'react'
import { codeThemes } from '../../ui/code-themes.ts'

const highlighter = { theme: codeThemes, preferredHighlighter: 'shiki-js' } as const
/** A worker that nobody has looked at a diff with for this long is ended. */
const idleMs = 30_000

/** Colours diffs beside the window's thread; without workers the viewer falls back to its own. Nobody waits for it: what is in view is drawn plain as soon as the themes are there. */
class DiffPool extends WorkerPoolManager {
  override isInitialized(): boolean {
    return super.isInitialized() || getHighlighterIfLoaded({ theme: codeThemes }) !== undefined
  }
}

let pool: DiffPool | null = null
let users = 0
let idle: ReturnType<typeof setTimeout> | undefined

function thePool(): DiffPool {
  pool ??= new DiffPool({ workerFactory: () => new Worker(new URL('./diff-worker.ts', import.meta.url), { type: 'module' }), poolSize: 1, mainThreadMaxCharacters: 20_000 }, highlighter)
  return pool
}

/** Loads what a diff is drawn with before its colours are known. */
export function loadDiffThemes(): Promise<void> {
  return preloadHighlighter({ themes: Object.values(codeThemes), langs: ['text'], preferredHighlighter: highlighter.preferredHighlighter })
}

/** The one pool of the window, which outlives the component for a while: a diff that is opened again has its colours at once. */
export function useDiffPool(): WorkerPoolManager {
  useEffect(() => {
    users += 1
    clearTimeout(idle)
    return () => {
      users -= 1
      if (users === 0) idle = setTimeout(endPool, idleMs)
    }
  }, [])
  return useState(thePool)[0]
}

function endPool(): void {
  pool?.terminate()
  pool = null
}
