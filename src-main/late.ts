/** Something that is loaded at its first use, once; a load that failed is tried again at the next. */
export interface Late<T> {
  get(): Promise<T>
  /** What was loaded; null when nothing was yet. */
  now(): T | null
}

export function loadOnce<T>(load: () => Promise<T>): Late<T> {
  let loading: Promise<T> | null = null
  let loaded: T | null = null
  const get = async (): Promise<T> => {
    loading ??= load()
    try {
      loaded = await loading
      return loaded
    } catch (error) {
      loading = null
      throw error
    }
  }
  return { get, now: () => loaded }
}

type Answering = (...given: never[]) => Promise<unknown>

/** A port whose adapter is loaded at its first call. Every method that it names answers with a promise, so that none can tell. */
export function late<P, K extends keyof P>(load: () => Promise<P>, methods: P[K] extends Answering ? Readonly<Record<K, true>> : never): Pick<P, K> {
  const call = (method: K) => async (...given: never[]): Promise<unknown> => {
    const port = await load()
    return (port[method] as Answering)(...given)
  }
  return Object.fromEntries((Object.keys(methods) as (K & string)[]).map((method) => [method, call(method)])) as Pick<P, K>
}
