/** Seeds that once broke a law, each with what it found. They run first, for ever. */
export const keptSeeds: readonly number[] = []
