import type { Configuration } from 'electron-builder'

/**
 * macOS: one app for both processors, hardened runtime, as few entitlements as Electron runs with. Signing takes CSC_LINK and
 * CSC_KEY_PASSWORD, notarisation APPLE_API_KEY, APPLE_API_KEY_ID and APPLE_API_ISSUER from the environment (release.ts says when they are missing).
 */
export const macOptions: Configuration = {
  mac: {
    target: [{ target: 'dmg', arch: ['universal'] }, { target: 'zip', arch: ['universal'] }],
    category: 'public.app-category.developer-tools', hardenedRuntime: true, gatekeeperAssess: false, minimumSystemVersion: '12.0',
    entitlements: 'build/release/mac/app.plist', entitlementsInherit: 'build/release/mac/inherited.plist',
    notarize: process.env['APPLE_API_KEY_ID'] !== undefined,
    // Each half has its own of these two, which are joined into one file of both processors.
    x64ArchFiles: '',
    extendInfo: { NSMicrophoneUsageDescription: null, NSCameraUsageDescription: null, NSBluetoothAlwaysUsageDescription: null, NSBluetoothPeripheralUsageDescription: null },
  },
  dmg: { sign: false, writeUpdateInfo: false },
}

/** Windows: for the account that installs it, without an administrator; signed with the certificate in WIN_CSC_LINK and WIN_CSC_KEY_PASSWORD. */
export const winOptions: Configuration = {
  win: { target: [{ target: 'nsis', arch: ['x64', 'arm64'] }], requestedExecutionLevel: 'asInvoker', signtoolOptions: { signingHashAlgorithms: ['sha256'] } },
  nsis: {
    oneClick: true, perMachine: false, allowElevation: false, deleteAppDataOnUninstall: false, buildUniversalInstaller: false, include: 'build/release/win/installer.nsh',
    artifactName: '${productName}-${version}-${arch}.exe',
  },
}
