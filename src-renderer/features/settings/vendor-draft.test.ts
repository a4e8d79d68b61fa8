import { describe, expect, test } from 'vitest'
import { vendorCliSchema } from '../../../src-preload/contract/settings.ts'
import { vendorDraft, vendorOf, vendorProblems } from './vendor-draft.ts'

const filled = { ...vendorDraft(undefined), label: 'Muse', program: ' /usr/local/bin/muse ', homeFolder: '/home/you/.muse-home', folders: '/opt/node\n\n/opt/lib', hosts: 'api.muse.example\nauth.muse.example:8443' }

describe('the form of the vendor’s program', () => {
  test('makes what Settings take, and shows it again as it was', () => {
    expect(vendorProblems(filled)).toEqual({})
    const vendor = vendorOf(filled)
    expect(vendorCliSchema.parse(vendor)).toEqual(vendor)
    expect(vendor).toMatchObject({ program: '/usr/local/bin/muse', serveArgs: ['serve', '--port', '{port}'], execArgs: ['exec', '--approval-mode', 'never', '--prompt-file', '{promptFile}'], folders: ['/opt/node', '/opt/lib'] })
    expect(vendorOf(vendorDraft(vendor))).toEqual(vendor)
  })

  test('has an own home of the app where none is named', () => {
    expect(vendorOf({ ...filled, homeFolder: ' ' }).homeFolder).toBeNull()
  })

  test.each([['label', ''], ['program', 'muse'], ['serveArgs', 'serve'], ['execArgs', 'exec\n--prompt-file'], ['homeFolder', '~/x'], ['folders', 'opt'], ['hosts', 'https://api.example'], ['hosts', '*.example']] as const)('says what is wrong with %s %j', (field, value) => {
    expect(Object.keys(vendorProblems({ ...filled, [field]: value }))).toEqual([field])
  })
})
