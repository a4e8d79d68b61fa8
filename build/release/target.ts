/** What a package is made for, in Node's words. */
export interface Target {
  readonly platform: 'linux' | 'darwin' | 'win32'
  readonly arch: 'x64' | 'arm64'
}

/** This machine. @throws on a platform or processor that nothing is made for */
export function hostTarget(): Target {
  const { platform, arch } = process
  if ((platform === 'linux' || platform === 'darwin' || platform === 'win32') && (arch === 'x64' || arch === 'arm64')) return { platform, arch }
  throw new Error(`nothing is made for ${platform}-${arch}`)
}

/** Every target of a release on one platform: a Mac's package holds both processors. */
export function targetsOf(platform: Target['platform']): readonly Target[] {
  return [{ platform, arch: 'x64' }, { platform, arch: 'arm64' }]
}

/** electron-builder's words for a platform, as its file patterns have them. */
export const builderPlatform = { linux: 'linux', darwin: 'mac', win32: 'win' } as const satisfies Record<Target['platform'], string>
