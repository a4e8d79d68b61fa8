import { Component, type ErrorInfo, type ReactNode } from 'react'
import { t } from '../i18n/text.ts'
import { Button } from './button.tsx'
import { Notice } from './notice.tsx'

/** Keeps a bug in one part of the window from taking the rest of it along. */
export class Guard extends Component<{ readonly children: ReactNode }, { readonly error: Error | null }> {
  override state: { readonly error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error): { readonly error: Error } {
    return { error }
  }

  override componentDidCatch(error: Error, info: ErrorInfo): void {
    console.error(error, info.componentStack)
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === null) return this.props.children
    return (
      <div className="screen-trouble">
        <Notice
          tone="bad"
          urgent
          title={t.app.crashed}
          actions={
            <Button size="small" onPress={() => { this.setState({ error: null }) }}>
              {t.app.showAgain}
            </Button>
          }
        >
          <div className="soft">{t.app.crashedTodo}</div>
          <div className="mono small quiet">{String(error)}</div>
        </Notice>
      </div>
    )
  }
}
