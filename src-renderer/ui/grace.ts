import { useEffect, useState } from 'react'
import { limits } from '../../src-preload/contract/limits.ts'

/** False for a moment (600 ms) after what is decided upon has appeared or changed, so that a press meant for what was there before decides nothing; false for null. */
export function useGrace(what: string | null): boolean {
  const [openFor, setOpenFor] = useState<string | null>(null)
  useEffect(() => {
    const later = setTimeout(() => {
      setOpenFor(what)
    }, limits.inputGraceMs)
    return () => {
      clearTimeout(later)
    }
  }, [what])
  return what !== null && openFor === what
}
