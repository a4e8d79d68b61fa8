import type { AppUpdater, CancellationToken } from 'electron-updater'
import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../src-preload/contract/result.ts'
import type { UpdateSource } from '../engine/updates.ts'

/** What of electron-updater is used. */
export type Updater = Pick<AppUpdater, 'checkForUpdates' | 'downloadUpdate' | 'quitAndInstall' | 'on' | 'off' | 'autoDownload' | 'autoInstallOnAppQuit' | 'autoRunAppAfterInstall' | 'allowDowngrade' | 'allowPrerelease' | 'disableWebInstaller' | 'fullChangelog'>

/** Where a build looks for newer versions; null where it looks nowhere. A package that no release made has no address to look at. */
export async function openUpdateSource(hasAddress: boolean): Promise<UpdateSource | null> {
  if (!hasAddress) return null
  const { default: electronUpdater, CancellationToken: Token } = await import('electron-updater')
  const { autoUpdater } = electronUpdater
  // It prints to the console by itself; what matters comes back as a value.
  autoUpdater.logger = null
  return createUpdateSource(autoUpdater, () => new Token())
}

/**
 * The `UpdateSource` port on electron-updater: it checks each file against the SHA-512 of its release and, on macOS and Windows, the
 * publisher's signature, before it gives it out. Nothing is downloaded, installed or downgraded by itself.
 */
export function createUpdateSource(updater: Updater, newToken: () => CancellationToken): UpdateSource {
  Object.assign(updater, { autoDownload: false, autoInstallOnAppQuit: false, autoRunAppAfterInstall: true, allowDowngrade: false, allowPrerelease: false, disableWebInstaller: true, fullChangelog: false })
  return {
    check: () => asResult(async () => {
      const found = await updater.checkForUpdates()
      return found === null ? null : found.updateInfo.version
    }),
    download: async (signal, onShare) => {
      const token = newToken()
      const heard = ({ percent }: { readonly percent: number }): void => { onShare(percent / 100) }
      signal.addEventListener('abort', () => { token.cancel() }, { once: true })
      updater.on('download-progress', heard)
      try {
        return await asResult(async () => { await updater.downloadUpdate(token); return null })
      } finally {
        updater.off('download-progress', heard)
      }
    },
    install: () => { updater.quitAndInstall(true, true) },
  }
}

const tampered = new Set(['ERR_CHECKSUM_MISMATCH', 'ERR_UPDATER_INVALID_SIGNATURE', 'ERR_UPDATER_NO_CHECKSUM'])

/** Whatever it throws is the network's, the server's or the file's doing, and a value here. */
async function asResult<T>(work: () => Promise<T>): Promise<Result<T, Failure>> {
  try {
    return ok(await work())
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const code = 'code' in error ? String(error.code) : ''
    if (tampered.has(code)) return err(failure('digest-mismatch', 'The downloaded version is not the one that was released; it was thrown away.', 'Try again later. If it stays, tell the authors.'))
    return err(failure('unavailable', `The update server could not be used (${code || firstLine(error.message)}).`, 'Try again later.'))
  }
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 200)
}
