import { useLayoutEffect, type ReactNode } from 'react'
import { I18nProvider } from 'react-aria-components'
import { useSpoken } from './language.ts'

/** Tells the document and React Aria the language. What draws words calls `useSpoken` itself, or is drawn by something that does. */
export function Speaker({ children }: { readonly children: ReactNode }): ReactNode {
  const { tag, direction, numbers } = useSpoken()
  useLayoutEffect(() => {
    document.documentElement.lang = tag
    document.documentElement.dir = direction
  }, [tag, direction])
  return <I18nProvider locale={numbers}>{children}</I18nProvider>
}
