import { useLayoutEffect, useState, type ComponentType, type ReactNode } from 'react'

/** A part of the window whose code is loaded when it is first shown. */
interface Late<P> {
  readonly View: (props: P) => ReactNode
  /** Loads the code ahead of the first showing. @throws what loading threw; showing the part tries again */
  readonly prepare: () => Promise<void>
}

/**
 * Shows `placeholder` until the component's code is there. Not by React's `lazy`: what follows a placeholder of Suspense is held back until
 * that has been in view for 300 ms, even when the code was there after five, and code that was fetched ahead gets a placeholder, too.
 * When loading fails, the part throws where it would stand.
 */
export function late<P extends object>(load: () => Promise<ComponentType<P>>, placeholder: ReactNode): Late<P> {
  let loaded: ComponentType<P> | null = null
  const fetched = async (): Promise<ComponentType<P>> => loaded ??= await load()
  function View(props: P): ReactNode {
    const [Part, setPart] = useState(() => loaded)
    const [trouble, setTrouble] = useState<{ readonly cause: unknown } | null>(null)
    const missing = Part === null
    useLayoutEffect(() => {
      if (!missing) return
      let shown = true
      fetched().then((part) => { if (shown) setPart(() => part) }, (cause: unknown) => { if (shown) setTrouble({ cause }) })
      return () => { shown = false }
    }, [missing])
    if (trouble !== null) throw trouble.cause
    return Part === null ? placeholder : <Part {...props} />
  }
  return { View, prepare: async () => { await fetched() } }
}
