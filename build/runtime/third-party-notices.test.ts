import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bubblewrap, openCodeVersion } from './pins.ts'
import { thirdPartyNotices } from './third-party-notices.ts'

interface Locked { readonly version: string; readonly dev?: boolean; readonly devOptional?: boolean; readonly optional?: boolean; readonly license?: string }

const { packages } = JSON.parse(readFileSync(join(resolve(import.meta.dirname, '../..'), 'package-lock.json'), 'utf8')) as { readonly packages: Readonly<Record<string, Locked>> }
const shipped = Object.entries(packages).filter(([path, { dev, devOptional, optional }]) => path !== '' && dev !== true && devOptional !== true && optional !== true)
/** Wanted as peers by types alone: nothing of them is code. */
const typesOnly = new Set(['@types/react', 'csstype'])
const sections = thirdPartyNotices()
const heads = new Set(sections.map((section) => section.split('\n')[0]))

describe('the third-party notices', () => {
  // The lock says independently of them what is no tool: what npm would install for an app without its tools.
  it('name every package that the lock holds for the app itself, in that version', () => {
    expect(shipped.length).toBeGreaterThan(100)
    expect(shipped.map(([path, { version }]) => [path.replace(/^.*node_modules\//, ''), version] as const).filter(([name]) => !typesOnly.has(name)).map(([name, version]) => `${name} ${version}`).filter((head) => !heads.has(head))).toEqual([])
  })

  it('say the licence of each, and only licences that allow to ship it in an app', () => {
    const licences = new Set(sections.filter((section) => !section.startsWith('bubblewrap ')).map((section) => /^Licence: (.+)$/m.exec(section)?.[1]?.replace('apache', 'Apache')))
    expect([...licences].filter((licence) => licence === undefined || !['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0', 'Python-2.0', 'CC0-1.0', 'Unlicense', '(MIT OR CC0-1.0)'].includes(licence))).toEqual([])
  })

  it('hold OpenCode, whose package brings no text, with the text that its licence wants in every copy', () => {
    const [first = ''] = sections
    expect(first.startsWith(`opencode ${openCodeVersion}\n`)).toBe(true)
    expect(first).toContain('Permission is hereby granted')
    expect(first).toContain('Copyright (c) 2025 opencode')
  })

  it('hold bubblewrap, whose licence asks for its text and its source in every copy, as a program of its own', () => {
    const section = sections.find((each) => each.startsWith(`bubblewrap ${bubblewrap.version}\n`)) ?? ''
    for (const words of ['Licence: LGPL-2.0-or-later', 'separate program', 'COPYING', `bubblewrap-${bubblewrap.version}.tar.xz`, 'Copyright (C) 2016 Alexander Larsson']) expect(section).toContain(words)
  })

  it('hold a text for each package, its licence or its copyright', () => {
    const bare = sections.filter((section) => !/copyright|permission is hereby granted|permission to use|licensed under|apache license/i.test(section.replace(/^Licence: .*$/m, '')))
    expect(bare.map((section) => section.split('\n')[0])).toEqual([])
  })
})
