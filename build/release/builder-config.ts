import type { Configuration } from 'electron-builder'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ElectronRuntime } from '../runtime/electron.ts'
import type { ShippedResource } from '../runtime/shipped-resources.ts'

/** The electron-builder configuration of every package: bundled code in the asar, all else in resources/, fuses set. */
export function builderConfig(electron: ElectronRuntime, resources: readonly ShippedResource[]): Configuration {
  return {
    appId: 'app.countersign.desktop',
    productName: 'Countersign',
    copyright: 'The Countersign authors, Apache-2.0',
    electronDist: electron.folder,
    electronVersion: electron.version,
    // Every dependency is bundled into out/ (electron.vite.config.ts): false means that none is collected or rebuilt.
    beforeBuild: () => Promise.resolve(false),
    electronLanguages: ['en-US'],
    asar: true,
    directories: { output: 'dist', buildResources: 'build/icons' },
    files: ['out/**', 'package.json'],
    extraResources: resources.map(({ from, to }) => ({ from, to })),
    afterPack: async ({ appOutDir }) => {
      await rm(join(appOutDir, 'resources/default_app.asar'), { force: true })
    },
    electronFuses: {
      runAsNode: false,
      enableCookieEncryption: true,
      enableNodeOptionsEnvironmentVariable: false,
      enableNodeCliInspectArguments: false,
      enableEmbeddedAsarIntegrityValidation: true,
      onlyLoadAppFromAsar: true,
      loadBrowserProcessSpecificV8Snapshot: false,
      grantFileProtocolExtraPrivileges: false,
    },
    // `npm run package` makes the unpacked folder only; these are what a release makes of it.
    linux: { target: ['AppImage', 'deb', 'tar.gz'], executableName: 'countersign', category: 'Development', maintainer: 'The Countersign authors' },
    mac: { target: ['dmg', 'zip'], category: 'public.app-category.developer-tools', hardenedRuntime: true },
    win: { target: ['nsis'] },
    publish: null,
  }
}
