import { describe, expect, test } from 'vitest'
import { seatbeltCommand, seatbeltEnd, seatbeltProfile, type SeatbeltShape } from './seatbelt-profile.ts'
import { wslCommand, wslConfiguration, wslObjection } from './wsl-arguments.ts'

const command: SeatbeltShape = { workspaceDir: '/Users/o/Library/cs/ws', stateDir: '/Users/o/Library/cs/state', readOnly: ['/Users/o/.nvm'], masked: ['.opencode', 'opencode.json'], homeDir: '/Users/o', proxyPort: null, agentPort: null, sockets: [] }
const agent: SeatbeltShape = { ...command, proxyPort: 18_747, agentPort: 4_096, sockets: ['/Users/o/Library/cs/run/broker.sock'] }
const linesOf = (shape: SeatbeltShape): readonly string[] => seatbeltProfile(shape).split('\n')
const at = (lines: readonly string[], start: string): number => lines.findIndex((line) => line.startsWith(start))

/** Of what is written for later: these hold its text. That it isolates, nothing has shown. */
describe('a profile for macOS', () => {
  test.each([['a command', command], ['the agent', agent]] as const)('of %s denies everything first', (_who, shape) => {
    expect(linesOf(shape).slice(0, 2)).toEqual(['(version 1)', '(deny default)'])
  })

  test('opens the workspace after it has closed the home, and closes what is masked after that', () => {
    const lines = linesOf(command)
    const [home, open, masked] = [at(lines, '(deny file-read* file-write* (subpath "/Users/o"))'), at(lines, '(allow file-read* file-write* (subpath "/Users/o/Library/cs/ws")'), at(lines, '(deny file-read* file-write* (subpath "/Users/o/Library/cs/ws/.opencode"))')]
    expect([home > 0, home < open, open < masked]).toEqual([true, true, true])
    expect(lines).toContain('(deny file-read* file-write* (subpath "/Users/o/Library/cs/ws/opencode.json"))')
    expect(at(lines, '(allow file-read* (subpath "/Users/o/.nvm"))')).toBeGreaterThan(home)
  })

  test('lets a command nowhere', () => {
    expect(linesOf(command).filter((line) => line.startsWith('(allow network'))).toEqual([])
    expect(linesOf(command)).toContain('(deny network*)')
  })

  test('lets the agent to the proxy and the broker, and be reached at its port; never by a local address outwards', () => {
    expect(linesOf(agent).filter((line) => line.startsWith('(allow network'))).toEqual([
      '(allow network-outbound (remote ip "localhost:18747"))', '(allow network-bind network-inbound (local ip "localhost:4096"))', '(allow network-outbound (literal "/Users/o/Library/cs/run/broker.sock"))',
    ])
    expect(seatbeltProfile(agent)).not.toMatch(/outbound[^\n]*local ip/)
  })

  test.each(['com.apple.SecurityServer', 'com.apple.securityd', 'com.apple.trustd', 'com.apple.coreservices.appleevents', '(deny lsopen)', '/usr/bin/osascript'])('keeps it from %s', (name) => {
    expect(linesOf(agent).filter((line) => line.startsWith('(deny') && line.includes(name))).toHaveLength(1)
  })

  test('writes paths so that none can end its own string', () => {
    expect(seatbeltProfile({ ...command, workspaceDir: '/a") (allow default) ("\\' })).toContain('(subpath "/a\\") (allow default) (\\"\\\\")')
    expect(() => seatbeltProfile({ ...command, workspaceDir: '/a\nb' })).toThrow('control characters')
  })

  test('writes outside of workspace, state and devices nowhere', () => {
    const writing = linesOf(agent).filter((line) => line.startsWith('(allow') && line.includes('file-write'))
    expect(writing).toEqual([
      expect.stringMatching(/^\(allow file-read\* file-write-data file-ioctl \(literal "\/dev\/null"\)/),
      '(allow file-read* file-write* (subpath "/Users/o/Library/cs/ws") (subpath "/Users/o/Library/cs/state"))',
    ])
  })

  test('signals nobody outside, so that the one who ends a tree ends that tree', () => {
    expect(linesOf(command).filter((line) => line.includes('signal'))).toEqual(['(allow signal (target same-sandbox))'])
    expect(seatbeltCommand('P', seatbeltEnd)).toEqual(['/usr/bin/sandbox-exec', ['-p', 'P', '--', '/bin/sh', '-c', 'kill -9 -1; kill -9 -1']])
  })
})

describe('the command line for WSL 2', () => {
  const shape = { distribution: 'countersign', bwrapPath: '/usr/bin/bwrap', bwrapArguments: ['--args', '3', '--', 'sh', '-c', 'echo "a b" $(x) %PATH%'] }

  test('starts the program without a shell, as nobody special, in no folder of Windows', () => {
    expect(wslCommand(shape)).toEqual(['wsl.exe', ['--distribution', 'countersign', '--user', 'countersign', '--cd', '/', '--exec', '/usr/bin/bwrap', ...shape.bwrapArguments]])
  })

  test.each(['--shutdown', '', 'a b', '../x', 'x'.repeat(65)])('takes “%s” for no distribution', (distribution) => { expect(() => wslCommand({ ...shape, distribution })).toThrow('no name') })
  test('refuses what wsl.exe would cut', () => { expect(() => wslCommand({ ...shape, bwrapArguments: ['a\nb'] })).toThrow('line break') })

  test('runs only where Windows programs cannot be started from', () => {
    const good = { version: 2, configuration: wslConfiguration, binaryFormats: ['register', 'status'] }
    expect(wslObjection(good)).toBe(null)
    expect(wslObjection({ ...good, configuration: wslConfiguration.replaceAll('\n', '\r\n') })).toBe(null)
    expect(wslObjection({ ...good, version: 1 })).toContain('WSL 1')
    expect(wslObjection({ ...good, binaryFormats: ['WSLInterop-late'] })).toContain('Windows programs')
    expect(wslObjection({ ...good, configuration: wslConfiguration.replace('[interop]\nenabled=false', '[interop]\nenabled=true') })).toContain('settings')
    expect(wslObjection({ ...good, configuration: '' })).toContain('settings')
  })
})
