import { expect, it } from 'vitest'
import { withScreen } from './plugin.ts'

it('a page with the screen on it names its language, and has the screen as it is', () => {
  const page = '<!doctype html><html lang="en"><head></head><body><div id="root"></div></body></html>'
  expect(withScreen(page, 'de', '<b>$& $1</b>')).toBe('<!doctype html><html lang="de"><head></head><body><div id="root"><b>$& $1</b></div></body></html>')
})

it('a page without a place for the screen fails the build', () => {
  expect(() => withScreen('<html></html>', 'en', 'x')).toThrow('no <div id="root">')
})
