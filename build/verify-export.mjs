#!/usr/bin/env node
// Checks an exported journal with nothing but Node and the file:  node verify-export.mjs EXPORT.jsonl [--head sha256:…]
// Format 1: one JSON text a line, each line ended by a line feed.
//   line 1       {"hash":H,"header":{…}}   H = SHA-256 of the header's exact bytes; the header counts the rows and names the head
//   every event  {"hash":H,"row":{…}}      H = SHA-256 of the row's exact bytes; row.prev is the H of the event before it
//   left out     {"gap":{"from":n,"hash":H,"prev":P,"to":m}}   events of other tasks: their place in the chain, not their content
// The first event's prev is sha256: and 64 zeros. A flipped byte, a removed, added or swapped line breaks one of these.
// What it cannot know: whether the whole file was made anew. For that compare --head with a head noted elsewhere.
import { createHash } from 'node:crypto'
import { createReadStream, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const genesis = `sha256:${'0'.repeat(64)}`
const hashPattern = /^sha256:[0-9a-f]{64}$/
const shell = (name) => ({ open: `{"hash":"${genesis}","${name}":`, hashAt: '{"hash":"'.length })

class Finding extends Error {}
function demand(holds, what) {
  if (!holds) throw new Finding(what)
}

async function* linesOf(chunks) {
  let rest = Buffer.alloc(0)
  for await (const chunk of chunks) {
    let from = 0
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      yield Buffer.concat([rest, chunk.subarray(from, at)])
      rest = Buffer.alloc(0)
      from = at + 1
    }
    rest = Buffer.concat([rest, chunk.subarray(from)])
  }
  if (rest.length > 0) yield null
}

/** The hashed inside of a line, or null when the line is not of this kind. */
function hashedPart(line, name) {
  const { open, hashAt } = shell(name)
  const text = line.toString('latin1', 0, open.length)
  const hash = text.slice(hashAt, hashAt + genesis.length)
  if (text !== open.replace(genesis, hash) || !hashPattern.test(hash) || line.at(-1) !== 0x7d) return null
  const body = line.subarray(open.length, -1)
  demand(`sha256:${createHash('sha256').update(body).digest('hex')}` === hash, `the ${name} does not match its hash`)
  return { hash, value: JSON.parse(body.toString('utf8')) }
}

function gapOf(line) {
  const match = /^\{"gap":\{"from":([1-9]\d*),"hash":"(sha256:[0-9a-f]{64})","prev":"(sha256:[0-9a-f]{64})","to":([1-9]\d*)\}\}$/.exec(line.toString('latin1'))
  return match === null ? null : { from: Number(match[1]), hash: match[2], prev: match[3], to: Number(match[4]) }
}

function checkHeader(line) {
  const part = line === null ? null : hashedPart(line, 'header')
  demand(part !== null, 'no header')
  demand(part.value.kind === 'countersign-journal-export' && part.value.format === 1, 'an export of another kind or format')
  return part.value
}

/** Takes one line into the chain; returns the chain's new state. */
function follow(chain, line) {
  demand(line !== null, 'the last line is cut short')
  const part = hashedPart(line, 'row')
  if (part !== null) {
    const { seq, prev, stream, version } = part.value
    demand(seq === chain.seq + 1, `event ${chain.seq + 1} is missing or out of place`)
    demand(prev === chain.hash, `event ${seq} does not follow the one before it`)
    const seen = chain.versions.get(stream) ?? 0
    demand(version === seen + 1, `event ${seq} is not number ${seen + 1} of its stream`)
    chain.versions.set(stream, version)
    return { ...chain, seq, hash: part.hash, rows: chain.rows + 1 }
  }
  const gap = gapOf(line)
  demand(gap !== null, 'neither an event nor a gap')
  demand(chain.gaps, 'a gap in an export of the whole journal')
  demand(gap.from === chain.seq + 1 && gap.to >= gap.from, `event ${chain.seq + 1} is missing or out of place`)
  demand(gap.prev === chain.hash, `the gap from ${gap.from} does not follow the event before it`)
  return { ...chain, seq: gap.to, hash: gap.hash }
}

/**
 * `chunks`: an iterable of the file's bytes. Resolves to `{ok: true, events, headHash}` or to `{ok: false, line, what}` with the first line
 * that does not hold, from 1.
 */
export async function verifyExport(chunks, expectedHead = null) {
  let number = 0
  try {
    let header = null
    let chain = null
    for await (const line of linesOf(chunks)) {
      number += 1
      if (header === null) {
        header = checkHeader(line)
        chain = { seq: 0, hash: genesis, rows: 0, versions: new Map(), gaps: header.taskId !== null }
      } else chain = follow(chain, line)
    }
    demand(header !== null, 'the file is empty')
    demand(chain.rows === header.events && chain.seq === header.headSeq, `the header counts ${header.events} events up to ${header.headSeq}, the file ends at ${chain.seq} with ${chain.rows}`)
    demand(chain.hash === header.headHash, 'the last event is not the head that the header names')
    demand(expectedHead === null || expectedHead === chain.hash, `the head is ${chain.hash}, not the expected one`)
    return { ok: true, events: chain.rows, headHash: chain.hash }
  } catch (error) {
    if (error instanceof Finding || error instanceof SyntaxError) return { ok: false, line: number, what: error.message }
    throw error
  }
}

async function main([path, flag, head]) {
  if (path === undefined || (flag !== undefined && (flag !== '--head' || !hashPattern.test(head ?? '')))) {
    console.error('usage: node verify-export.mjs EXPORT.jsonl [--head sha256:…]')
    return 2
  }
  const verdict = await verifyExport(createReadStream(path), head ?? null)
  console.log(verdict.ok ? `good: ${verdict.events} events, head ${verdict.headHash}` : `bad: line ${verdict.line}: ${verdict.what}`)
  return verdict.ok ? 0 : 1
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) process.exitCode = await main(process.argv.slice(2))
