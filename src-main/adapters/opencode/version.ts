import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'

/** The oldest OpenCode whose events and routes were measured. */
const oldest = { major: 1, minor: 17, patch: 18 } as const

const semver = /^v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/

/**
 * Judges what `opencode --version` printed: accepts stable 1.x from 1.17.18 (contracts 4), without build metadata in the answer.
 * Refusals are `opencode-unsupported` and name the version and the reason.
 */
export function judgeVersion(printed: string): Result<string, Failure> {
  const text = printed.trim()
  const match = semver.exec(text)
  if (match === null) return refuse(text === '' ? 'It printed no version' : `It printed “${shorten(text)}”, which is no version`)
  const major = Number(match[1])
  const minor = Number(match[2])
  const patch = Number(match[3])
  const version = `${major}.${minor}.${patch}`
  if (match[4] !== undefined) return refuse(`${version}${match[4]} is a pre-release; only stable versions are accepted`)
  if (major > oldest.major) return refuse(`${version} is a new generation that was not tried; only 1.x is accepted`)
  if (major < oldest.major || minor < oldest.minor || (minor === oldest.minor && patch < oldest.patch)) return refuse(`${version} is too old`)
  return ok(version)
}

function refuse(reason: string): Result<string, Failure> {
  return err(failure('opencode-unsupported', `This OpenCode cannot be used. ${reason}.`, 'Use the OpenCode that ships with the app, or a stable 1.x from 1.17.18.'))
}

function shorten(text: string): string {
  const line = text.split('\n', 1)[0] ?? ''
  // What a foreign program printed may hold control characters; none of them belongs into a message.
  return line.replace(/[^\x20-\x7e]/g, '?').slice(0, 80)
}
