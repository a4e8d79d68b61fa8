import { describe, expect, test } from 'vitest'
import { seatbeltAgentProfile, seatbeltProfile, type SeatbeltAgentShape, type SeatbeltShape } from './seatbelt-profile.ts'

const common = { workspaceDir: '/Users/o/Library/Application Support/cs/ws', readOnly: ['/Users/o/.nvm'], masked: ['.opencode', 'opencode.json'], homeDir: '/Users/o' } as const
const command: SeatbeltShape = { ...common, privateDir: '/Users/o/Library/Application Support/cs/r/c' }
const run = '/Users/o/Library/Application Support/cs/r'
const agent: SeatbeltAgentShape = {
  ...common, stateDir: '/Users/o/Library/Application Support/cs/state', temporaryDir: `${run}/tmp`, appDir: `${run}/app`, controlDir: `${run}/ctl`, controlSocket: `${run}/ctl/control.sock`, hostSockets: [`${run}/broker.sock`, '/Users/o/e/proxy.sock'],
  programs: ['/Applications/C.app/opencode', `${run}/app/shell`, '/bin/dash', '/opt/homebrew/Cellar/ripgrep/14/bin/rg'], ports: [51_001, 51_002],
}
const lines = { command: seatbeltProfile(command).split('\n'), agent: seatbeltAgentProfile(agent).split('\n') }
const all = [['command', lines.command], ['agent', lines.agent]] as const
const starting = (list: readonly string[], start: string): readonly string[] => list.filter((line) => line.startsWith(start))
const at = (list: readonly string[], start: string): number => list.findIndex((line) => line.startsWith(start))

/** The profiles' text. That a Mac keeps to it, nothing here can show. */
describe.each(all)('the profile of a %s on macOS', (_who, list) => {
  test('denies everything first', () => { expect(list.slice(0, 2)).toEqual(['(version 1)', '(deny default)']) })

  test('is one whole form a line', () => {
    for (const line of list) {
      const outside = line.replaceAll(/"(?:\\.|[^"\\])*"/g, '')
      expect([line, outside.match(/\(/g)?.length]).toEqual([line, outside.match(/\)/g)?.length])
    }
  })

  test('opens its folders after it has closed the home, and closes what is masked after that', () => {
    const [home, open] = [at(list, '(deny file-read* file-write* (subpath "/Users/o"))'), at(list, '(allow file-read* file-write* (subpath "/Users/o/Library/Application Support/cs/ws")')]
    const masks = list.flatMap((line, index) => (line.startsWith('(deny file-read* file-write* (regex ') ? [index] : []))
    expect(home).toBeGreaterThan(0)
    expect(open).toBeGreaterThan(home)
    expect(masks).toHaveLength(2)
    expect(Math.min(...masks)).toBeGreaterThan(open)
    expect(at(list, '(allow file-read* (subpath "/Users/o/.nvm")')).toBeGreaterThan(home)
  })

  test('masks a name in whatever case, with all below, and nothing that only begins like it', () => {
    const masks = list.flatMap((line) => /\(regex "(.*)"\)\)$/.exec(line)?.[1] ?? []).map((text) => new RegExp(text.replaceAll('\\\\', '\\')))
    const isMasked = (path: string): boolean => masks.some((mask) => mask.test(`${common.workspaceDir}/${path}`))
    expect(['.opencode', '.OpenCode/plugin/p.js', 'opencode.json', 'OPENCODE.JSON', 'opencode.jſon'].map(isMasked)).toEqual([true, true, true, true, true])
    expect(['opencodeXjson', '.opencode2', 'src/opencode.json', 'my.opencode'].map(isMasked)).toEqual([false, false, false, false])
  })

  test.each(['com.apple.SecurityServer', 'com.apple.securityd', 'com.apple.trustd', 'com.apple.coreservices.appleevents', '(deny lsopen)', '(deny appleevent-send)', '/usr/bin/osascript', '/bin/launchctl', '/usr/bin/crontab'])('keeps it from %s', (name) => {
    expect(list.filter((line) => line.startsWith('(deny') && line.includes(name))).toHaveLength(1)
    expect(list.slice(at(list, '(deny mach-lookup')).filter((line) => line.startsWith('(allow'))).toEqual([])
  })

  test('never lets it out by what its own end is called', () => {
    expect(list.filter((line) => line.includes('network-outbound') && line.includes('(local '))).toEqual([])
    expect(list.filter((line) => line.includes('"*:') || line.includes(':*"'))).toEqual([])
  })

  test('shows it neither arguments nor environment of other processes, and signals nobody outside', () => {
    expect(list).toContain('(deny sysctl-read (sysctl-name-prefix "kern.proc"))')
    expect(starting(list, '(allow process-info')).toEqual(['(allow process-info* (target same-sandbox))'])
    expect(list.filter((line) => line.includes('signal'))).toEqual(['(allow signal (target same-sandbox))'])
  })

  test('lets the folders above its own be looked at, not listed', () => {
    const [above] = starting(list, '(allow file-read-metadata (literal')
    expect(above).toContain('(literal "/Users/o/Library/Application Support")')
    expect(list.filter((line) => line.startsWith('(allow file-read*') && /\((?:literal|subpath) "\/Users(?:\/o)?(?:\/Library)?"\)/.test(line))).toEqual([])
  })
})

describe('the profile of a command', () => {
  test('lets it nowhere on the network', () => {
    expect(starting(lines.command, '(allow network')).toEqual([])
    expect(lines.command).toContain('(deny network*)')
  })

  test('writes to workspace, private folder and devices, and nowhere else', () => {
    expect(lines.command.filter((line) => line.startsWith('(allow') && line.includes('file-write'))).toEqual([
      expect.stringMatching(/^\(allow file-read\* file-write-data file-ioctl \(literal "\/dev\/null"\)/), '(allow file-read* file-write-data (subpath "/dev/fd"))',
      `(allow file-read* file-write* (subpath "${common.workspaceDir}") (subpath "${run}/c"))`,
    ])
  })
})

describe('the profile of the agent', () => {
  test('reaches its two ports and the host\'s two sockets, and makes one socket', () => {
    expect(lines.agent.filter((line) => line.includes('network'))).toEqual([
      `(allow network-bind network-inbound (local ip "localhost:51001") (local ip "localhost:51002") (local unix-socket (path-literal "${run}/ctl/control.sock")))`,
      `(allow network-outbound (remote ip "localhost:51001") (remote ip "localhost:51002") (remote unix-socket (path-literal "${run}/broker.sock")) (remote unix-socket (path-literal "/Users/o/e/proxy.sock")))`,
    ])
  })

  test('starts OpenCode, the broker\'s client, its interpreter and the search program, by name', () => {
    expect(lines.agent.filter((line) => line.startsWith('(allow') && line.includes('process-exec'))).toEqual([`(allow process-exec* (literal "/Applications/C.app/opencode") (literal "${run}/app/shell") (literal "/bin/dash") (literal "/opt/homebrew/Cellar/ripgrep/14/bin/rg"))`])
  })

  test('writes to its four folders, reads our scripts, and does not replace the host\'s sockets', () => {
    const writes = lines.agent.filter((line) => line.startsWith('(allow') && line.includes('file-write*'))
    expect(writes).toEqual([`(allow file-read* file-write* (subpath "${common.workspaceDir}") (subpath "/Users/o/Library/Application Support/cs/state") (subpath "${run}/tmp") (subpath "${run}/ctl"))`])
    expect(lines.agent).toContain(`(allow file-read* file-write-data (literal "${run}/broker.sock") (literal "/Users/o/e/proxy.sock"))`)
    expect(starting(lines.agent, '(allow file-read* (subpath "/Users/o/.nvm")')[0]).toContain(`(subpath "${run}/app")`)
  })
})

test('writes paths so that none can end its own string', () => {
  expect(seatbeltProfile({ ...command, workspaceDir: '/a") (allow default) ("\\' })).toContain('(subpath "/a\\") (allow default) (\\"\\\\")')
  expect(() => seatbeltProfile({ ...command, workspaceDir: '/a\nb' })).toThrow('control characters')
  expect(() => seatbeltAgentProfile({ ...agent, controlSocket: '/a\u0000b' })).toThrow('control characters')
})

test('a path with signs that mean something in a pattern masks itself and nothing else', () => {
  const strange = '/Users/o/a (b)+[c]{2}|^$.*?\\'
  const [mask] = seatbeltProfile({ ...command, workspaceDir: strange }).split('\n').flatMap((line) => /\(regex "(.*)"\)\)$/.exec(line)?.[1] ?? []).map((text) => new RegExp(text.replaceAll('\\\\', '\\')))
  expect([`${strange}/.opencode/x`, '/Users/o/a b/.opencode'].map((path) => mask?.test(path))).toEqual([true, false])
})
