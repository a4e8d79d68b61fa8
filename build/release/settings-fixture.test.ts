import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openSettings } from '../../src-main/adapters/settings/settings-store.ts'
import { settingsSchema, type Settings } from '../../src-preload/contract/settings.ts'
import { appVersion } from './version.ts'

const folder = join(import.meta.dirname, 'settings')
const version = appVersion()
const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8')

/** Opens a file of settings as a start does; whatever it would write or move is counted. */
async function opened(text: string): Promise<{ readonly settings: Settings; readonly problem: unknown; readonly touched: number; save(): Promise<string> }> {
  let touched = 0
  let saved = ''
  const store = await openSettings('/settings.json', {
    read: () => Promise.resolve(text), write: (_path, next) => { touched += 1; saved = next; return Promise.resolve() }, setAside: (path) => { touched += 1; return Promise.resolve(path) },
  }, 1024 ** 3)
  return { settings: store.get(), problem: store.problem(), touched, save: async () => { await store.put(store.get()); return saved } }
}

describe('the settings of an earlier release', () => {
  it('are kept of this version: as a first start leaves them, and with whatever there is to set', () => {
    expect(readdirSync(folder)).toEqual(expect.arrayContaining([`${version}-fresh.json`, `${version}-full.json`]))
  })

  it('are kept with every member that this version knows, so that none can be forgotten', () => {
    const set = new Set(pathsOf(JSON.parse(textOf(`${version}-full.json`))))
    expect(membersOf(z.toJSONSchema(settingsSchema, { io: 'input' }) as Schema).filter((path) => !set.has(path))).toEqual([])
  })

  it.each(readdirSync(folder))('%s loads without a word, with everything as it was, and is saved so that it loads again', async (name) => {
    const { settings, problem, touched, save } = await opened(textOf(name))
    expect({ problem, touched }).toEqual({ problem: null, touched: 0 })
    // What a later release adds may be there; what the owner had set is as it was.
    expect(settings).toMatchObject(JSON.parse(textOf(name)) as object)
    expect((await opened(await save())).settings).toEqual(settings)
  })

  it('that were saved before attention could be chosen load with its defaults', async () => {
    const { attention: _none, ...older } = JSON.parse(textOf(`${version}-full.json`)) as Settings
    expect(await opened(JSON.stringify(older))).toMatchObject({ problem: null, settings: { ...older, attention: { notify: true, badge: true, tray: true } } })
  })
})

interface Schema { readonly properties?: Readonly<Record<string, Schema>>; readonly items?: Schema; readonly anyOf?: readonly Schema[] }

/** Each member as `providers[].models[].id`. */
function membersOf(schema: Schema, at = ''): string[] {
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [`${at}.${name}`, ...membersOf(inner, `${at}.${name}`)]),
    ...(schema.items === undefined ? [] : membersOf(schema.items, `${at}[]`)), ...(schema.anyOf ?? []).flatMap((one) => membersOf(one, at)),
  ]
}

function pathsOf(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsOf(item, `${at}[]`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [`${at}.${name}`, ...pathsOf(inner, `${at}.${name}`)])
}
