import { expect, test } from 'vitest'
import { asSources } from './bubblewrap.ts'

test('sources of apt become those of source packages, in both formats, and nothing else of them changes', () => {
  expect(asSources('deb [arch=amd64] https://mirror.example/debian bookworm main\n# deb https://old.example/ x y\ndeb-src https://mirror.example/debian bookworm main\n')).toBe('deb-src [arch=amd64] https://mirror.example/debian bookworm main\n# deb https://old.example/ x y\ndeb-src https://mirror.example/debian bookworm main\n')
  expect(asSources('Types: deb deb-src\nURIs: https://mirror.example/debian\nSuites: bookworm\n\nTypes: deb\nURIs: https://deb.example/x\n')).toBe('Types: deb-src\nURIs: https://mirror.example/debian\nSuites: bookworm\n\nTypes: deb-src\nURIs: https://deb.example/x\n')
})
