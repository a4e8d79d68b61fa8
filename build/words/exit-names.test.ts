import { expect, it } from 'vitest'
import { exitNames } from '../../src-main/core/task/exit-names.ts'
import { words } from '../../src-words/en/window.ts'

it('what was resolved names an exit as its button does', () => { expect(exitNames).toEqual(words.room.exits) })
