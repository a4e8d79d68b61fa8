import type { ReactNode } from 'react'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components'

/** A dialog over the window. Escape and a click beside it close it, unless `busy`. */
export function Dialog({ title, onClose, busy = false, wide = false, children }: { readonly title: string; readonly onClose: () => void; readonly busy?: boolean; readonly wide?: boolean; readonly children: ReactNode }): ReactNode {
  return (
    <ModalOverlay
      className="veil"
      isOpen
      isDismissable={!busy}
      isKeyboardDismissDisabled={busy}
      onOpenChange={(open) => {
        if (!open) onClose()
      }}
    >
      <Modal className={`dialog-frame${wide ? ' dialog-wide' : ''}`}>
        <AriaDialog className="dialog">
          <Heading slot="title" className="dialog-title">
            {title}
          </Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}
