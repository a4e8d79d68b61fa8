// `npm run set-up`: everything that starting, testing and packaging need on this machine.
import { setUp } from './set-up.ts'

const { electron, sqliteAddon } = await setUp(['window', 'display'])
console.log(`set-up: Electron ${electron.version} in ${electron.folder}\nset-up: SQLite addon ${sqliteAddon}`)
