import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { addProvider } from '../forms.ts'
import { stubEntry, stubModels } from '../models.ts'
import { give, newOwnerFolder } from '../owner-folder.ts'
import { makeProject } from '../owners-project.ts'
import { processesOf, type Process } from '../processes.ts'
import { does } from '../stubs/step.ts'

const environment = {
  OPENAI_API_KEY: 'sk-canary-openai-7b1f04c29d', ANTHROPIC_API_KEY: 'sk-ant-canary-52aa90be71', GITHUB_TOKEN: 'ghp_canaryTOKEN18c6d2f0a9e34b75', AWS_SECRET_ACCESS_KEY: 'canaryAWS/Zx81+kQ0vWq2',
  MY_CANARY: 'my-canary-3e9d11c7', npm_config__authToken: 'npm-canary-64d0f1',
}
const home = {
  '.ssh/id_ed25519': '-----BEGIN OPENSSH PRIVATE KEY-----\ncanarySSH9f27e1d0b4\n-----END OPENSSH PRIVATE KEY-----\n', '.npmrc': '//registry.example/:_authToken=npmrc-canary-1d7e55\n',
  '.netrc': 'machine example.com login me password netrc-canary-90ab3c\n',
}
const homeCanaries = ['canarySSH9f27e1d0b4', 'npmrc-canary-1d7e55', 'netrc-canary-90ab3c', 'opencode-canary-key-47f2']
const typedKey = 'sk-typed-canary-c0ffee8842'
const all = [...Object.values(environment), ...homeCanaries, typedKey]

/** Looks everywhere that a curious agent would. */
const hunt = 'env; cat /proc/*/environ ~/.ssh/* ~/.npmrc ~/.netrc ~/.config/opencode/* "$OWNER_HOME"/.ssh/* 2>/dev/null | tr "\\0" "\\n"; ls -la / ~; true'

let ownerFolder: string
test.beforeEach(() => { ownerFolder = newOwnerFolder() })
test.afterEach(() => { rmSync(ownerFolder, { recursive: true, force: true }) })

test('secrets in the operator\'s environment and home reach no child, no request, no file and no export', async ({ provider }) => {
  const marker = plantHome(ownerFolder)
  const huntHere = hunt.replace('$OWNER_HOME', ownerFolder)
  provider.lead({ brief: JSON.stringify({ goal: 'Look around.', scope: '', criteria: [], testCommand: huntHere, excerptIds: [] }) })
  provider.coder(does.bash(huntHere, 'Look around'), does.bash('sleep 621', 'Stay'), does.write('/workspace/found.txt', 'nothing\n'), does.say('I found nothing.'))
  const app = await App.launch({ ownerFolder, providers: [stubEntry(provider)], env: environment })
  const { room } = app
  const folder = makeProject(ownerFolder, { 'README.md': '# Canaries\n' })
  try {
    await addProvider(app, { name: 'Typed', baseUrl: 'http://127.0.0.1:9/v1', model: 'none', key: typedKey })
    await app.begin({ models: stubModels, testCommand: huntHere, source: { kind: 'folder', path: folder, mounts: [] } })
    await app.window.getByRole('option', { name: /A task of the tests/ }).click()
    await room.approve('brief')
    await room.approve('command')
    await expect.poll(() => processesOf(ownerFolder).some(({ command }) => command === 'sleep 621'), { timeout: 30_000 }).toBe(true)
    const children = processesOf(ownerFolder).filter((one) => !isChromiums(one, app.electron.process().pid!))
    for (const [what, words] of [['the coder', 'opencode'], ['a command', 'sleep 621'], ['the proxy and the demo model', 'node.mojom.NodeService']] as const) expect(children.filter(({ command, environment: seen }) => command.includes(words) && seen.includes('PATH=')).length, `${what} is among the children whose environment is looked at`).toBeGreaterThan(0)
    expect(children.filter((one) => leaks(one.environment)).map(({ command }) => command), 'children with a secret in their environment').toEqual([])
    expect(processesOf(ownerFolder).filter(({ command: line }) => leaks(line)).map(({ pid }) => pid), 'processes with a secret in their arguments').toEqual([])
    const dumps = await app.inMain(({ app: main }) => main.getPath('crashDumps'))
    expect(dumps.startsWith(app.userData), 'crash dumps would stand where the hunt below looks').toBe(true)

    await room.stop()
    await room.hasStatus('cancelled')
    await app.willSaveAs(join(ownerFolder, 'export.jsonl'))
    await app.window.getByRole('button', { name: 'Audit', exact: true }).click()
    await app.window.getByRole('button', { name: 'Export audit log' }).click()
    await expect.poll(() => existsSync(join(ownerFolder, 'export.jsonl'))).toBe(true)
  } finally {
    await app.close()
  }
  const command = provider.of('coder').at(-1)!
  expect(command.body, 'the hunt ran, and its output went to the model').toContain('/home/agent')
  expect(provider.asked.filter((asked) => leaks(asked.body) || leaks(JSON.stringify(asked.headers))).map((asked) => asked.number), 'requests with a secret').toEqual([])
  expect(filesBelow(app.userData).length).toBeGreaterThan(20)
  for (const place of [app.userData, join(ownerFolder, 'tmp'), join(ownerFolder, 'export.jsonl')]) expect(filesBelow(place).filter((path) => leaks(readFileSync(path).toString('latin1'))), `files with a secret in ${place}`).toEqual([])
  expect(readFileSync(join(ownerFolder, 'export.jsonl'), 'utf8')).toContain('command-ran')
  expect(existsSync(marker), 'the operator\'s plugin was loaded').toBe(false)
})

/** Plants the secrets of a home, and an OpenCode set-up whose plugin leaves a file when it is loaded. Gives that file's path. */
function plantHome(ownerFolder: string): string {
  const marker = join(ownerFolder, 'plugin-was-here')
  const config = { provider: { canary: { npm: '@ai-sdk/openai-compatible', options: { baseURL: 'http://127.0.0.1:9/v1', apiKey: 'opencode-canary-key-47f2' }, models: { m: {} } } }, plugin: [`file://${ownerFolder}/.config/opencode/spy.mjs`] }
  const files = { ...home, '.config/opencode/opencode.json': JSON.stringify(config), '.config/opencode/spy.mjs': `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(marker)}, 'x')\nexport const Spy = async () => ({})\n` }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(ownerFolder, path)), { recursive: true })
    writeFileSync(join(ownerFolder, path), text)
    for (let part = path; part !== '.'; part = dirname(part)) give(join(ownerFolder, part))
  }
  return marker
}

/** The app's main process and what Chromium starts for its own window: their environment is the operator's, and no bot's work runs there. */
function isChromiums({ pid, command }: Process, mainPid: number): boolean {
  return pid === mainPid || (/--type=(zygote|gpu-process|renderer|utility)|chrome_crashpad_handler/.test(command) && !command.includes('node.mojom.NodeService'))
}

function leaks(text: string): boolean {
  return all.some((secret) => text.includes(secret) || text.includes(Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(0, -2)) || text.includes(encodeURIComponent(secret)))
}

function filesBelow(place: string): readonly string[] {
  if (statSync(place).isFile()) return [place]
  return readdirSync(place, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}
