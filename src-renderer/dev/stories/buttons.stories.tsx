import type { Meta, StoryObj } from '@storybook/react-vite'
import { Check, Download, Trash2 } from 'lucide-react'
import { Button, IconButton, Keys, WithTip, type ButtonProps } from '../../ui/button.tsx'
import { FoldButton } from '../../ui/pieces.tsx'

const meta: Meta = { title: 'Elements/Buttons' }
export default meta

const variants: readonly NonNullable<ButtonProps['variant']>[] = ['normal', 'primary', 'danger', 'plain']
const nothing = (): void => undefined

export const Variants: StoryObj = {
  render: () => (
    <div className="story">
      {variants.map((variant) => (
        <div key={variant} className="story-line">
          <Button variant={variant} size="small">Small</Button>
          <Button variant={variant}>{variant}</Button>
          <Button variant={variant} size="big">Big</Button>
          <Button variant={variant} icon={Download}>With an icon</Button>
          <Button variant={variant} isDisabled>Cannot be pressed</Button>
          <Button variant={variant} isPending>Pending</Button>
          <IconButton variant={variant} label={`Only an icon, ${variant}`} icon={Trash2} />
        </div>
      ))}
    </div>
  ),
}

export const Tooltip: StoryObj = {
  render: () => (
    <div className="story">
      <div className="story-line">
        <WithTip tip="What the button does, where its label does not say it" chord="mod+shift+enter">
          <Button icon={Check}>Rest on it</Button>
        </WithTip>
        <Keys chord="mod+enter" />
        <Keys chord="mod+shift+enter" />
      </div>
    </div>
  ),
  play: async ({ userEvent, canvas }) => {
    await userEvent.tab()
    await canvas.findByRole('button', { name: /Rest on it/ })
  },
}

export const Folds: StoryObj = {
  render: () => (
    <div className="story">
      <FoldButton open={false} onToggle={nothing}>Closed</FoldButton>
      <FoldButton open onToggle={nothing}>Open</FoldButton>
    </div>
  ),
}

export const Long: StoryObj = {
  render: () => (
    <div className="story story-narrow">
      <div className="story-line">
        <Button size="small" wraps>An answer that somebody else proposed, longer than its box and still to be read to its very end</Button>
        <Button wraps icon={Check}>{`Without an end: ${'Donaudampfschifffahrt'.repeat(6)}`}</Button>
        <Button size="small" wraps>Short</Button>
      </div>
      <FoldButton open={false} onToggle={nothing}>A section whose name is as long as this one and still must be readable to its very end</FoldButton>
    </div>
  ),
}
