/** A piece of the stream and how long to wait before it. */
export interface Piece { readonly text: string; readonly waitMs: number }

const heldTools = new Set(['write', 'edit', 'apply_patch'])

/** Cuts text as a model streams it: a few characters at a time, 15 to 25 ms apart, always in the same places. */
export function paced(text: string, pieceChars: number): readonly Piece[] {
  const pieces: Piece[] = []
  const units = [...text]
  for (let at = 0, turn = 0; at < units.length; turn++) {
    const length = pieceChars - 3 + ((turn * 7) % 7)
    pieces.push({ text: units.slice(at, at + length).join(''), waitMs: 15 + ((turn * 13) % 11) })
    at += length
  }
  return pieces
}

/** The pieces of a call's arguments. With a hold, those of a file-writing tool pause once, after the file name and half of the rest. */
export function pacedArguments(tool: string, json: string, holdMs: number): readonly Piece[] {
  if (holdMs === 0 || !heldTools.has(tool)) return paced(json, 24)
  const nameEnd = /"(?:filePath|path)":"(?:[^"\\]|\\.)*",?/.exec(json)
  const from = nameEnd === null ? 0 : nameEnd.index + nameEnd[0].length
  const half = from + Math.floor((json.length - from) / 2)
  const [held, ...rest] = paced(json.slice(half), 24)
  return [...paced(json.slice(0, half), 24), ...(held === undefined ? [] : [{ text: held.text, waitMs: holdMs }]), ...rest]
}

/** Tokens as this model counts them: four characters each, rounded up. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4)
}
