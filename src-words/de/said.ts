import type { SaidPair } from '../said.ts'
import { app } from './said/app.ts'
import { audit } from './said/audit.ts'
import { cards } from './said/cards.ts'
import { coder } from './said/coder.ts'
import { grants } from './said/grants.ts'
import { models } from './said/models.ts'
import { names } from './said/names.ts'
import { room } from './said/room.ts'
import { sandbox } from './said/sandbox.ts'
import { task } from './said/task.ts'
import { workspace } from './said/workspace.ts'

/** What the main process says, in German, by area. said.test.ts holds it to the source: every sentence is here, and nothing else. */
export const said: readonly SaidPair[] = [...room, ...task, ...cards, ...grants, ...coder, ...models, ...sandbox, ...workspace, ...app, ...audit, ...names]
