import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { CommandId } from '../../src-preload/contract/ids.ts'
import type { NewTask } from '../../src-preload/contract/methods.ts'
import { err, ok, type Result } from '../../src-preload/contract/result.ts'
import type { Settings } from '../../src-preload/contract/settings.ts'

const sampleSchema = z.object({ title: z.string(), requirement: z.string(), criteria: z.array(z.string()), testCommand: z.string() })
const demo = { providerId: 'demo', modelId: 'demo' }

/** The sample task as it ships, on the embedded demo model, with the owner's default budget and grant. */
export async function readSampleTask(sampleDir: string, settings: Settings, commandId: CommandId): Promise<Result<NewTask, Failure>> {
  try {
    const sample = sampleSchema.parse(JSON.parse(await readFile(join(sampleDir, 'task.json'), 'utf8')))
    return ok({ commandId, ...sample, source: { kind: 'sample' }, models: { lead: demo, coder: demo }, budget: settings.defaults.budget, grant: settings.defaults.grant, revisionOf: null, ...(settings.defaults.runtime === undefined ? {} : { runtime: settings.defaults.runtime }) })
  } catch (error) {
    return err(failure('unavailable', `The sample task that ships with the app cannot be read: ${error instanceof Error ? error.message : String(error)}`, 'Install the app again.'))
  }
}
