/** Checks the house rules of README.md on everything in src/. Ends with 1 if one is broken. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const widthMax = 110
const folder = join(import.meta.dirname, '..', 'src')
const problems: string[] = []

/** The code of a line without its comments and texts, so that a price in a sentence is no fault. */
function bareCode(line: string): string {
  return line
    .replace(/^\s*(\/\*\*?|\*).*$/, '')
    .replace(/\/\/.*$/, '')
    .replace(/'[^']*'|"[^"]*"|`[^`]*`/g, "''")
}

function checkFile(name: string): { lines: number; documented: number } {
  const lines = readFileSync(join(folder, name), 'utf8').replace(/\n$/, '').split('\n')
  let documented = 0
  lines.forEach((line, index) => {
    const code = bareCode(line)
    const broken = (rule: string): unknown => problems.push(`src/${name}:${index + 1}  ${rule}`)
    if (line.length > widthMax) broken(`longer than ${widthMax} characters`)
    if (/[ \t]$/.test(line)) broken('ends with a blank')
    if (line.includes('\t')) broken('indented with a tab')
    if (/\d\.\d/.test(code)) broken('a fraction: money is whole cents')
    if (/\bany\b/.test(code)) broken('the type any')
    if (/^export (async )?function /.test(line)) {
      if (/\*\/\s*$/.test(lines[index - 1] ?? '')) documented += 1
      else broken('an exported function without a comment above it')
    }
  })
  return { lines: lines.length, documented }
}

const files = readdirSync(folder).filter((name) => name.endsWith('.ts')).sort()
for (const name of files) {
  const { lines, documented } = checkFile(name)
  console.log(`${`src/${name}`.padEnd(20)} ${String(lines).padStart(3)} lines, ${documented} exported functions, all rules read`)
}
for (const problem of problems) console.error(problem)
console.log(`${files.length} files checked, ${problems.length === 0 ? 'no rule broken' : `${problems.length} broken`}`)
process.exit(problems.length === 0 ? 0 : 1)
