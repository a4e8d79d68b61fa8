/** A piece of a line in one colour, for either scheme; null: as the rest of the text. */
export interface ColouredPiece { readonly text: string; readonly light: string | null; readonly dark: string | null }

/** Whole lines of a growing text, in order; `from`: the number of the first, from 0. */
export interface LinesToColour { readonly stream: string; readonly path: string; readonly from: number; readonly lines: readonly string[] }

export type ColoursRequest = LinesToColour | { readonly end: string }
/** `failed`: the worker could not; texts stay plain. */
export type ColoursAnswer = { readonly stream: string; readonly from: number; readonly lines: readonly (readonly ColouredPiece[])[] } | { readonly failed: string }

/** The end of a growing text, by lines: whole ones and the one that is being written. `from`: the number of the first whole one. */
export interface TailLines { readonly from: number; readonly whole: readonly string[]; readonly open: string }

/** Cuts a bounded tail into numbered lines. `lines`: how many the whole text has, the one that is being written included. */
export function tailLines(tail: string, lines: number): TailLines {
  const parts = tail.split('\n')
  const open = parts.pop() ?? ''
  // The one that is open is counted as soon as it has a character.
  const before = open === '' ? lines : lines - 1
  return { from: Math.max(0, before - parts.length), whole: parts, open }
}

/** Streams that are kept at a time, and lines of each: what is near the end of what one can see. */
const streamsMax = 8
const linesMax = 64
/** The worker is ended when nothing was to be coloured for this long. */
const idleMs = 30_000
/** After so many failures no worker is started any more: a text grows many times a second, and each piece would start one. */
const failuresMax = 3

interface Known { asked: number; readonly lines: Map<number, readonly ColouredPiece[]> }

/** What this window knows of the colours of growing texts. The work is a worker's; where it fails, texts stay plain. */
export class ColouredLines {
  readonly #startWorker: () => Worker
  readonly #streams = new Map<string, Known>()
  readonly #listeners = new Set<() => void>()
  #worker: Worker | null = null
  #idle: ReturnType<typeof setTimeout> | null = null
  #version = 0
  #failures = 0

  constructor(startWorker: () => Worker) {
    this.#startWorker = startWorker
  }

  /** Rises with each answer. */
  readonly version = (): number => this.#version

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  line(stream: string, number: number): readonly ColouredPiece[] | undefined {
    return this.#streams.get(stream)?.lines.get(number)
  }

  /** Asks for the lines that are new. Each line is asked for once, in order. */
  ask(stream: string, path: string, tail: TailLines): void {
    if (this.#failures >= failuresMax) return
    const known = this.#streams.get(stream) ?? { asked: 0, lines: new Map<number, readonly ColouredPiece[]>() }
    const end = tail.from + tail.whole.length
    if (end <= known.asked) return
    const from = Math.max(known.asked, tail.from)
    known.asked = end
    this.#streams.set(stream, known)
    this.#forgetOldest()
    this.#post({ stream, path, from, lines: tail.whole.slice(from - tail.from) })
  }

  /** The text is complete or gone. */
  end(stream: string): void {
    if (!this.#streams.delete(stream)) return
    this.#worker?.postMessage({ end: stream })
  }

  #forgetOldest(): void {
    for (const stream of this.#streams.keys()) {
      if (this.#streams.size <= streamsMax) return
      this.end(stream)
    }
  }

  #post(lines: LinesToColour): void {
    if (this.#worker === null) {
      this.#worker = this.#startWorker()
      this.#worker.onmessage = ({ data }: MessageEvent<ColoursAnswer>) => { this.#take(data) }
      this.#worker.onerror = ({ message }) => { this.#fail(message) }
    }
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = setTimeout(() => { this.#stop() }, idleMs)
    this.#worker.postMessage(lines)
  }

  #take(answer: ColoursAnswer): void {
    if ('failed' in answer) {
      this.#fail(answer.failed)
      return
    }
    const known = this.#streams.get(answer.stream)
    if (known === undefined) return
    for (const [index, line] of answer.lines.entries()) known.lines.set(answer.from + index, line)
    for (const number of known.lines.keys()) {
      if (known.lines.size <= linesMax) break
      known.lines.delete(number)
    }
    this.#version += 1
    for (const listener of [...this.#listeners]) listener()
  }

  #fail(why: string): void {
    this.#failures += 1
    console.error(`colours: ${why}`)
    this.#stop()
  }

  /** What is asked for next begins anew, so that no line of one text is read in the state of another. */
  #stop(): void {
    this.#worker?.terminate()
    this.#worker = null
    this.#streams.clear()
  }
}
