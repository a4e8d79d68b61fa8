import type { Meta, StoryObj } from '@storybook/react-vite'
import { Info } from 'lucide-react'
import { authorSchema } from '../../../src-preload/contract/ids.ts'
import { taskStatusSchema } from '../../../src-preload/contract/task.ts'
import { StatusGlyph, statusTones } from '../../features/room/status-glyph.tsx'
import { AuthorMark, AuthorName, Badge, WrittenBy, type Tone } from '../../ui/badge.tsx'
import { Prose } from '../../ui/markdown.tsx'
import { Digest, ExactText, Path, PlainText } from '../../ui/pieces.tsx'
import { code, digest } from '../fixtures.ts'

const meta: Meta = { title: 'Elements/Badges and text' }
export default meta

const tones = Object.keys({ neutral: 1, ink: 1, good: 1, warn: 1, bad: 1, lead: 1, coder: 1 } satisfies Record<Tone, 1>) as readonly Tone[]

export const Badges: StoryObj = {
  render: () => (
    <div className="story">
      <div className="story-line">{tones.map((tone) => <Badge key={tone} tone={tone}>{tone}</Badge>)}</div>
      <div className="story-line">{tones.map((tone) => <Badge key={tone} tone={tone} square icon={Info}>{tone}</Badge>)}</div>
      <div className="story-line">{taskStatusSchema.options.map((status) => <span key={status} className="line"><StatusGlyph task={{ status, recovery: null }} /><Badge tone={statusTones[status]}>{status}</Badge></span>)}</div>
      <div className="story-line"><StatusGlyph task={{ status: 'working', recovery: { state: 'uncertain', since: 0, what: 'Turn 2' } }} /> uncertain</div>
    </div>
  ),
}

export const Authors: StoryObj = {
  render: () => (
    <div className="story">
      {authorSchema.options.map((author) => <div key={author} className="story-line"><AuthorMark author={author} /><AuthorName author={author} /><WrittenBy author={author} /></div>)}
    </div>
  ),
}

export const Exact: StoryObj = {
  render: () => (
    <div className="story">
      <pre className="code"><ExactText text={'rm -rf build\u202e dist\u200b # \u00a0 and а cyrillic letter\n\ttab\r\n'} strictness="command" /></pre>
      <p><PlainText text={'Read, not approved: \u202eturned round\u202c, שלום, emoji 👩‍💻'} /></p>
      <div className="story-narrow"><Path value={`packages/${'deeply/nested/'.repeat(8)}component-with-a-long-name.test.tsx`} /></div>
      <Digest value={digest(4)} />
    </div>
  ),
}

export const Markdown: StoryObj = {
  render: () => (
    <div className="story">
      <Prose text={`# A heading\n\nWords with **weight**, *stress*, \`code\` and a [link](https://example.com).\n\n- one\n- two\n  - inner\n\n1. first\n2. second\n\n> quoted\n\n\`\`\`ts\n${code.slice(0, 300)}\n\`\`\`\n\n| a | b |\n|---|---|\n${`| ${'wide cell '.repeat(9)} | x |\n`.repeat(3)}\n<script>alert(1)</script>\n\nA word without end: ${'Donaudampfschifffahrt'.repeat(12)}`} />
    </div>
  ),
}
