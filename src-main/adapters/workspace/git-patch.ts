import { createHash } from 'node:crypto'
import { deflate } from 'node:zlib'
import { promisify } from 'node:util'
import { hunkText, type Hunks } from './line-hunks.ts'

/** One side of a patch: what git would store. `mode` is git's: 100644, 100755 or 120000. */
export interface PatchSide { readonly mode: string; readonly content: Uint8Array }

const deflated = promisify(deflate)
const noSide = '0'.repeat(40)

/** A path as git writes it in a header: quoted, with C escapes and octal bytes, when it holds anything unusual. */
export function quotePath(path: string): string {
  if (/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(path)) return path
  const named: Readonly<Record<number, string>> = { 7: 'a', 8: 'b', 9: 't', 10: 'n', 11: 'v', 12: 'f', 13: 'r', 0x22: '"', 0x5c: '\\' }
  const bytes = [...Buffer.from(path, 'utf8')].map((byte) => {
    const name = named[byte]
    if (name !== undefined) return `\\${name}`
    return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`
  })
  return `"${bytes.join('')}"`
}

/** The id that git gives content: SHA-1 of `blob <size>\0<content>`. Written in patches so that git can check what it applies to. */
export function blobId(content: Uint8Array): string {
  return createHash('sha1').update(`blob ${content.byteLength}\0`).update(content).digest('hex')
}

/** The header lines of one file's patch, up to the hunks. `binary` headers have no `---` and `+++`. */
function header(path: string, before: PatchSide | null, after: PatchSide | null, body: 'text' | 'binary' | 'none'): string {
  const [a, b] = [quotePath(`a/${path}`), quotePath(`b/${path}`)]
  const lines = [`diff --git ${a} ${b}`]
  if (before === null && after !== null) lines.push(`new file mode ${after.mode}`)
  else if (before !== null && after === null) lines.push(`deleted file mode ${before.mode}`)
  else if (before !== null && after !== null && before.mode !== after.mode) lines.push(`old mode ${before.mode}`, `new mode ${after.mode}`)
  if (body !== 'none' || before === null || after === null) {
    const mode = before !== null && after !== null && before.mode === after.mode ? ` ${before.mode}` : ''
    lines.push(`index ${before === null ? noSide : blobId(before.content)}..${after === null ? noSide : blobId(after.content)}${mode}`)
  }
  if (body === 'text') {
    // A tab behind a name with blanks keeps readers from taking a part of it for a date.
    const tab = path.includes(' ') ? '\t' : ''
    lines.push(`--- ${before === null ? '/dev/null' : a + tab}`, `+++ ${after === null ? '/dev/null' : b + tab}`)
  }
  return `${lines.join('\n')}\n`
}

/** The patch of one text file in git's extended format. */
export function textPatch(path: string, before: PatchSide | null, after: PatchSide | null, hunks: Hunks): string {
  return header(path, before, after, hunks.hunks.length === 0 ? 'none' : 'text') + hunkText(hunks.hunks)
}

/** The patch of one binary file, with its whole content for both directions (`git apply --binary`). */
export async function binaryPatch(path: string, before: PatchSide | null, after: PatchSide | null): Promise<string> {
  return `${header(path, before, after, 'binary')}GIT binary patch\n${await literal(after?.content ?? new Uint8Array())}\n${await literal(before?.content ?? new Uint8Array())}\n`
}

const base85 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~'

/** `literal SIZE`, then lines of at most 52 bytes of the deflated content, each with its length as a letter in front. */
async function literal(content: Uint8Array): Promise<string> {
  const packed = await deflated(content)
  const lines = [`literal ${content.byteLength}`]
  for (let from = 0; from < packed.byteLength; from += 52) {
    const part = packed.subarray(from, from + 52)
    const size = part.byteLength
    lines.push(String.fromCharCode(size <= 26 ? 0x40 + size : 0x60 + size - 26) + encode85(part))
  }
  return `${lines.join('\n')}\n`
}

function encode85(bytes: Uint8Array): string {
  let text = ''
  for (let from = 0; from < bytes.byteLength; from += 4) {
    let word = 0
    for (let i = 0; i < 4; i += 1) word = word * 256 + (bytes[from + i] ?? 0)
    let group = ''
    for (let i = 0; i < 5; i += 1) {
      group = (base85[word % 85] ?? '') + group
      word = Math.floor(word / 85)
    }
    text += group
  }
  return text
}
