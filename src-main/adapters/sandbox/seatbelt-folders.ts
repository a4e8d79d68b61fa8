import { randomBytes } from 'node:crypto'
import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { fillRunFolder, runFolderPrefix, usableRunRoot, type RunFolder } from './run-folder.ts'
import { keeperShell } from './seatbelt-keeper.ts'

/** Run folders whose scripts name what they need by its real path. */
export interface SeatbeltFolders {
  /** Real path of the folder that they are in. */
  root(): Promise<string>
  /** Where the next one will be; nothing is made yet. */
  next(): Promise<string>
  open(path: string, openCode: string): Promise<RunFolder>
  readonly inUse: ReadonlySet<string>
}

/** Run folders below `wantedRoot`, or where sockets have a shorter path. */
export function createSeatbeltFolders(wantedRoot: string): SeatbeltFolders {
  const inUse = new Set<string>()
  const root = async (): Promise<string> => realpath(await usableRunRoot(wantedRoot))
  return {
    root, inUse,
    next: async () => join(await root(), `${runFolderPrefix}${randomBytes(3).toString('hex')}`),
    async open(path, openCode) {
      const app = join(path, 'app')
      await mkdir(path, { mode: 0o700 })
      inUse.add(path)
      const folder = await fillRunFolder(path, { openCode, app, plainShell: keeperShell, bunConfig: join(app, 'bunfig.toml'), shellClient: join(app, 'client.js'), brokerSocket: join(path, 'broker.sock') })
      return { ...folder, remove: async () => { await folder.remove(); inUse.delete(path) } }
    },
  }
}
