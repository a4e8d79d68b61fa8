import type { LucideIcon } from 'lucide-react'
import { LoaderCircle } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button as AriaButton, Tooltip, TooltipTrigger, type ButtonProps as AriaButtonProps, type PressEvent } from 'react-aria-components'
import { chordCaps, onMac, type Chord } from './keys.ts'

export interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'children' | 'style'> {
  readonly variant?: 'normal' | 'primary' | 'danger' | 'plain'
  readonly size?: 'small' | 'normal' | 'big'
  readonly icon?: LucideIcon
  /** The key that does the same, shown in the tooltip. */
  readonly chord?: Chord
  /** What the button does, where its label does not say it; the tooltip's text. */
  readonly tip?: string
  /** For a label that somebody else wrote: of any length, and read to its end. The app's own labels fit their box in every language, on one line. */
  readonly wraps?: boolean
  readonly className?: string
  readonly children?: ReactNode
  readonly onPress?: (event: PressEvent) => void
}

/**
 * A button with a label. Shows a tooltip when there is a key or something more to say. While pending it keeps the focus and takes no press; the
 * library's own pending state would announce the button by reference, and by then a button that answered has often left the page.
 */
export function Button({ variant = 'normal', size = 'normal', icon: Icon, chord, tip, wraps = false, className, children, isPending = false, onPress, type = 'button', ...rest }: ButtonProps): ReactNode {
  const classes = ['button', variant === 'normal' ? '' : `button-${variant}`, size === 'normal' ? '' : `button-${size}`, children === undefined ? 'button-icon' : '', wraps ? 'button-wraps' : '', className ?? '']
  const button = (
    <AriaButton
      {...rest}
      type={isPending ? 'button' : type}
      className={classes.filter((name) => name !== '').join(' ')}
      {...(isPending ? { 'aria-disabled': true, 'data-pending': true } : {})}
      onPress={(event) => {
        if (!isPending) onPress?.(event)
      }}
    >
      {isPending ? <LoaderCircle className="icon icon-small spin" aria-hidden /> : Icon === undefined ? null : <Icon className="icon" aria-hidden />}
      {children}
    </AriaButton>
  )
  if (tip === undefined && chord === undefined) return button
  return (
    <WithTip tip={tip ?? (typeof children === 'string' ? children : (rest['aria-label'] ?? ''))} {...(chord === undefined ? {} : { chord })}>
      {button}
    </WithTip>
  )
}

/** A button that is only an icon; its label is its name and its tooltip. */
export function IconButton({ label, icon, ...rest }: Omit<ButtonProps, 'children' | 'icon' | 'aria-label'> & { readonly label: string; readonly icon: LucideIcon }): ReactNode {
  return <Button variant="plain" {...rest} icon={icon} aria-label={label} tip={rest.tip ?? label} />
}

/** Puts a tooltip, with the key that does the same, on one focusable child. */
export function WithTip({ tip, chord, children }: { readonly tip: string; readonly chord?: Chord; readonly children: ReactNode }): ReactNode {
  return (
    <TooltipTrigger delay={500} closeDelay={0}>
      {children}
      <Tooltip className="tooltip" offset={6}>
        {tip}
        {chord === undefined ? null : <Keys chord={chord} />}
      </Tooltip>
    </TooltipTrigger>
  )
}

/** A key combination, drawn. */
export function Keys({ chord }: { readonly chord: Chord }): ReactNode {
  return (
    <span className="keys">
      {chordCaps(chord, onMac()).map((cap) => (
        <kbd key={cap}>{cap}</kbd>
      ))}
    </span>
  )
}
