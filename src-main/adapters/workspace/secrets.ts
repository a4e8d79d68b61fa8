/** Names that usually hold secrets. By pattern only: it keeps them out of what the lead is given, it is no proof that the rest is harmless. */
const secretNames: readonly RegExp[] = [
  /^\.env(\..*)?$/, /^.*\.env$/, /\.(pem|key|p12|pfx|jks|keystore|kdbx|asc|gpg|ppk|ovpn)$/, /^id_[^.]*(\.pub)?$/, /^\.?credentials?(\..*)?$/, /^.*[-_.]credentials?(\.(json|ya?ml|toml|ini|txt|xml))?$/,
  /^\.?secrets?(\.(json|ya?ml|toml|ini|txt|env|xml))?$/, /^\.(netrc|npmrc|pypirc|pgpass|htpasswd|git-credentials|dockercfg|vault-token)$/, /^_netrc$/, /^service[-_]?account.*\.json$/, /^.*\.tfstate(\..*)?$/, /^.*\.tfvars$/, /^auth\.json$/, /^known_hosts$/,
]
const secretFolders = new Set(['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.gcloud', 'secrets', '.secrets'])
const harmless = /^\.env\.(example|sample|template|dist)$/

/** Whether a path (relative, `/`-separated) looks as if it held a secret. */
export function looksSecret(path: string): boolean {
  const parts = path.toLowerCase().split('/')
  const name = parts.pop() ?? ''
  if (parts.some((part) => secretFolders.has(part))) return true
  return !harmless.test(name) && secretNames.some((pattern) => pattern.test(name))
}
