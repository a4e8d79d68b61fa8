interface Secret { readonly name: string; readonly without: string }

const apple = 'the app is not notarised, and macOS will not open it'
const secrets: Readonly<Record<string, readonly Secret[]>> = {
  darwin: [
    { name: 'CSC_LINK', without: 'the app is not signed, and macOS will not open it' }, { name: 'CSC_KEY_PASSWORD', without: 'the certificate in CSC_LINK cannot be read' },
    { name: 'APPLE_API_KEY', without: apple }, { name: 'APPLE_API_KEY_ID', without: apple }, { name: 'APPLE_API_ISSUER', without: apple },
  ],
  win32: [{ name: 'WIN_CSC_LINK', without: 'the installer is not signed: SmartScreen warns, and updates are refused' }, { name: 'WIN_CSC_KEY_PASSWORD', without: 'the certificate in WIN_CSC_LINK cannot be read' }],
}

/** What signing needs on a platform and the environment does not have, with what comes of it. Linux's packages are told by the release's checksums and attestation. */
export function missingSecrets(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): readonly Secret[] {
  return (secrets[platform] ?? []).filter(({ name }) => (env[name] ?? '') === '')
}
