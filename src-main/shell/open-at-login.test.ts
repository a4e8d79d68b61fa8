import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { autostartEntry, createOpenAtLogin, type LoginPlace, type OpenAtLogin } from './open-at-login.ts'

let home: string
beforeEach(() => { home = mkdtempSync(join(tmpdir(), 'login-')) })
afterEach(() => { rmSync(home, { recursive: true, force: true }) })

const untouched: LoginPlace['system'] = { getLoginItemSettings: () => { throw new Error('asked') }, setLoginItemSettings: () => { throw new Error('told') } }
const login = (change: Partial<LoginPlace> = {}): OpenAtLogin => createOpenAtLogin({ platform: 'linux', isPackaged: true, execPath: '/opt/Countersign/countersign', env: { HOME: home }, system: untouched, ...change })
const entry = (): string => join(home, '.config/autostart/countersign.desktop')

describe('opening at login', () => {
  it('is off until it is turned on, and leaves nothing behind when it is turned off', () => {
    expect(login().get()).toBe(false)
    expect(existsSync(join(home, '.config'))).toBe(false)
    expect(login().set(true).ok).toBe(true)
    expect(login().get()).toBe(true)
    expect(readFileSync(entry(), 'utf8')).toContain('Exec="/opt/Countersign/countersign"\n')
    expect(login().set(true).ok).toBe(true)
    expect(login().set(false).ok).toBe(true)
    expect(login().get()).toBe(false)
    expect(existsSync(entry())).toBe(false)
    expect(login().set(false).ok).toBe(true)
  })

  it('starts the AppImage, not the mount that it runs from now', () => {
    login({ env: { HOME: home, APPIMAGE: '/home/me/Countersign.AppImage' }, execPath: '/tmp/.mount_x/countersign' }).set(true)
    expect(readFileSync(entry(), 'utf8')).toContain('Exec="/home/me/Countersign.AppImage"\n')
  })

  it('is off when the desktop\'s own settings switched it off', () => {
    login().set(true)
    for (const line of ['Hidden=true', 'X-GNOME-Autostart-enabled=false']) {
      writeFileSync(entry(), `[Desktop Entry]\nType=Application\n${line}\n`)
      expect(login().get(), line).toBe(false)
    }
  })

  it('quotes whatever a path may hold', () => {
    expect(autostartEntry('/a b/100% "x" $y `z` \\')).toContain('Exec="/a b/100%% \\\\"x\\\\" \\\\$y \\\\`z\\\\` \\\\\\\\"\n')
    expect(login({ execPath: '/evil\nExec=/bin/sh' }).get()).toBe(null)
  })

  it('says why where the disk refuses', () => {
    mkdirSync(join(home, '.config'))
    writeFileSync(join(home, '.config/autostart'), 'a file')
    expect(login().set(true)).toMatchObject({ ok: false, error: { code: 'unavailable' } })
    expect(login().get()).toBe(false)
  })

  it('is not to be had from the sources, on systems without it, or without a home', () => {
    for (const change of [{ isPackaged: false }, { platform: 'freebsd' as const }, { env: {} }, { env: { XDG_CONFIG_HOME: 'relative' } }]) {
      expect(login(change).get()).toBe(null)
      expect(login(change).set(true)).toMatchObject({ ok: false, error: { code: 'unavailable' } })
    }
  })

  it.each(['darwin', 'win32'] as const)('is the system\'s own business on %s', (platform) => {
    let openAtLogin = false
    const there = login({ platform, system: { getLoginItemSettings: () => ({ openAtLogin }), setLoginItemSettings: (next) => { openAtLogin = next.openAtLogin } } })
    expect(there.get()).toBe(false)
    expect(there.set(true).ok).toBe(true)
    expect(there.get()).toBe(true)
    expect(login({ platform, system: { getLoginItemSettings: () => ({ openAtLogin: false }), setLoginItemSettings: () => undefined } }).set(true)).toMatchObject({ ok: false })
  })
})
