import type { Configuration } from 'electron-builder'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { macOptions, winOptions } from './desktop-options.ts'

/** The fuses of every package; read back from what was built by contents.ts. */
export const shippedFuses = {
  runAsNode: false,
  enableCookieEncryption: true,
  enableNodeOptionsEnvironmentVariable: false,
  enableNodeCliInspectArguments: false,
  enableEmbeddedAsarIntegrityValidation: true,
  onlyLoadAppFromAsar: true,
  loadBrowserProcessSpecificV8Snapshot: false,
  grantFileProtocolExtraPrivileges: false,
} as const

export interface BuilderInput {
  /** An unpacked Electron to take instead of the release's own download. */
  readonly electron: { readonly folder: string; readonly version: string } | null
  /** The folder whose `linux-x64`, `mac-arm64` … hold what stands beside the asar (stage.ts). */
  readonly stage: string
  /** Where updates come from; null: this build looks for none. */
  readonly updatesFrom: { readonly owner: string; readonly repo: string } | null
  /** Of the deb: `gz` for tests, which wait for it. */
  readonly compression?: 'xz' | 'gz'
}

const linuxDescription = 'Two coding bots work on your task in one room that you own; nothing counts as done until an independent check has passed and you have countersigned it.'

/** The electron-builder configuration of every package: bundled code in the asar, all else in resources/, fuses set. */
export function builderConfig({ electron, stage, updatesFrom, compression = 'xz' }: BuilderInput): Configuration {
  return {
    appId: 'app.countersign.desktop',
    productName: 'Countersign',
    copyright: 'The Countersign authors, Apache-2.0',
    ...(electron === null ? {} : { electronDist: electron.folder, electronVersion: electron.version }),
    // Every dependency is bundled into out/ (electron.vite.config.ts): false means that none is collected or rebuilt.
    beforeBuild: () => Promise.resolve(false),
    electronLanguages: ['en-US'],
    // electron-builder makes no deb without one. A build from no repository names none: deb-writer.ts leaves this one out.
    extraMetadata: { desktopName: 'countersign.desktop', homepage: updatesFrom === null ? 'https://countersign.invalid' : `https://github.com/${updatesFrom.owner}/${updatesFrom.repo}` },
    asar: true,
    directories: { output: 'dist', buildResources: 'build/icons' },
    files: ['out/**', 'package.json'],
    extraResources: [{ from: `${stage}/\${os}-\${arch}`, to: '.' }],
    afterPack: async ({ appOutDir }) => {
      await rm(join(appOutDir, 'resources/default_app.asar'), { force: true })
    },
    electronFuses: shippedFuses,
    protocols: [{ name: 'Countersign', schemes: ['countersign'] }],
    publish: updatesFrom === null ? null : [{ provider: 'github', ...updatesFrom, releaseType: 'draft' }],
    linux: {
      syncDesktopName: true,
      executableName: 'countersign', category: 'Development', maintainer: 'The Countersign authors <maintainers@countersign.invalid>', vendor: 'The Countersign authors',
      synopsis: 'Coding bots whose work you countersign', description: linuxDescription, mimeTypes: ['x-scheme-handler/countersign'],
    },
    deb: {
      packageCategory: 'devel', compression, afterInstall: 'build/release/linux/after-install.sh', afterRemove: 'build/release/linux/after-remove.sh',
      // libX11-xcb and libgbm are loaded by Chromium itself, so that no linker lists them: without the first it ends with a trap.
      depends: ['libgtk-3-0 | libgtk-3-0t64', 'libnss3', 'libasound2 | libasound2t64', 'libgbm1', 'libx11-xcb1', 'libxss1', 'libsecret-1-0', 'xdg-utils', 'bubblewrap', 'ripgrep', 'git'], recommends: ['gnome-keyring | kwalletmanager'],
    },
    rpm: {
      packageCategory: 'Development/Tools', compression: 'xz', afterInstall: 'build/release/linux/after-install.sh', afterRemove: 'build/release/linux/after-remove.sh',
      depends: ['gtk3', 'nss', 'alsa-lib', 'mesa-libgbm', 'libX11-xcb', 'libsecret', 'xdg-utils', 'bubblewrap', 'ripgrep', 'git-core'],
    },
    appImage: { artifactName: '${productName}-${version}-${arch}.AppImage' },
    ...macOptions,
    ...winOptions,
  }
}
