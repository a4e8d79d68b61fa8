import { FakeMain } from './fake-bridge.ts'
import { scenes } from './scenes.ts'
import * as fixtures from './fixtures.ts'

// Opens the window on fixtures: ?scene=live&flags=dark,compact. For looking at and for measuring; never shipped.
const query = new URLSearchParams(location.search)
const main = new FakeMain(scenes[query.get('scene') ?? 'live']?.() ?? [], new Set((query.get('flags') ?? '').split(',')))
Object.assign(window, { countersign: main.bridge, dev: { main, fixtures } })
await import('../main.tsx')
