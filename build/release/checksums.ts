// `npm run checksums [-- FOLDER]`: writes SHA256SUMS of the packages in FOLDER (default dist), as sha256sum prints and checks it.
import { createHash } from 'node:crypto'
import { createReadStream, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isPublished } from './published.ts'

const folder = resolve(process.argv[2] ?? 'dist')

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

const names = readdirSync(folder).filter(isPublished).sort()
if (names.length === 0) throw new Error(`${folder} holds no packages`)
const lines: string[] = []
for (const name of names) lines.push(`${await sha256(join(folder, name))}  ${name}`)
writeFileSync(join(folder, 'SHA256SUMS'), `${lines.join('\n')}\n`)
console.log(lines.join('\n'))
