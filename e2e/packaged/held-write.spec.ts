import { createHash } from 'node:crypto'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { stubEntry, stubModels } from '../models.ts'
import { makeProject } from '../owners-project.ts'
import { does } from '../stubs/step.ts'

/** The second wire API differs in its frames alone; its hold only has to outlast what is looked at. */
const heldForMs = { chat: 10_000, responses: 3_000 } as const
const fileBytes = 123_090
/** Text of exactly `fileBytes` bytes in UTF-8, with characters of one to four bytes and everything that JSON escapes. */
const content = exactly(fileBytes)
const digest = createHash('sha256').update(content).digest('hex')
/** Wants the file byte-exact, and a note that only the second turn writes. */
const testCommand = `echo '${digest}  big/ledger ü.txt' | sha256sum -c && test -f note.txt`

for (const api of ['chat', 'responses'] as const) {
  test(`shows a write by tool, file and bytes while its arguments are held for ${heldForMs[api] / 1000} s, and has it byte-exact and once (${api})`, async ({ provider }) => {
    provider.lead({ brief: JSON.stringify({ goal: 'Write the ledger.', scope: '', criteria: [], testCommand, excerptIds: [] }) })
    provider.coder(
      does.write('/workspace/big/ledger ü.txt', content, { text: 'I write the ledger.', half: { forMs: heldForMs[api] } }),
      does.bash(testCommand, 'Run the tests'), does.say('The ledger is written.'),
      does.write('/workspace/note.txt', 'noted\n'), does.bash(testCommand, 'Run the tests'), does.say('And the note.'),
    )
    const app = await App.launch({ providers: [stubEntry(provider, api)] })
    const folder = makeProject(app.ownerFolder, { 'README.md': '# Ledgers\n' })
    try {
      const { room } = app
      await app.begin({ models: stubModels, testCommand, source: { kind: 'folder', path: folder, mounts: [] } })
      await room.approve('brief')
      await provider.halfway()

      const row = room.tools({ tool: 'write' }).first()
      await expect(row).toHaveAttribute('data-state', 'preview')
      await expect(row).toContainText('ledger ü.txt')
      const callId = (await row.getAttribute('data-call-id'))!
      // The counter is honest: what the provider has sent, and no more.
      await expect(row).toContainText(/\d{2},\d{3} bytes/)
      await app.window.screenshot({ path: `dist/screens/held-write-${api}.png` })
      expect(await row.getAttribute('data-state'), 'still held').toBe('preview')

      await expect(room.tools({ callId }).first()).toHaveAttribute('data-state', 'done', { timeout: heldForMs[api] + 30_000 })
      await room.hasStatus('result-ready', 120_000)
      await expect(room.tools({ callId })).toHaveCount(1)
      const finals = (await app.audit(callId)).filter((event) => event.type === 'tool-ended')
      expect(finals, 'final records of the call').toHaveLength(1)
      expect((await room.rowKinds()).filter((kind) => kind === 'verification'), 'the first verification failed, the second passed').toHaveLength(2)

      const review = await app.call('review.get', { taskId: await app.shownTask() })
      expect(review.verification).toMatchObject({ passed: true, testRun: { exitCode: 0 } })
      const patch = review.files.find((file) => file.change.path === 'big/ledger ü.txt')!
      expect(createHash('sha256').update(addedText(patch.patch!)).digest('hex'), 'the diff holds the same bytes').toBe(digest)

      expect((await app.audit()).filter((event) => event.type === 'session-bound'), 'one session for both turns').toHaveLength(1)
      const last = provider.of('coder').at(-1)!
      expect(last.user, 'the second turn says what was wrong').toContain('did not pass')
      expect(last.body, 'and carries the first turn').toContain(callId)
    } finally {
      await app.close()
    }
  })
}

/** Lines that a unified diff adds to a new file, as one text. */
function addedText(patch: string): string {
  return patch.split('\n').filter((line) => line.startsWith('+') && !line.startsWith('+++')).map((line) => `${line.slice(1)}\n`).join('')
}

function exactly(bytes: number): string {
  const line = 'entry "7" \\ tab\t naïve – 試験 🧾 </script> ${x}\n'
  let text = ''
  while (Buffer.byteLength(text + line) <= bytes - 1) text += line
  return `${text}${'x'.repeat(bytes - Buffer.byteLength(text) - 1)}\n`
}
