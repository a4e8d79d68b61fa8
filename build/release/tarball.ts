import { join } from 'node:path'
import { run } from '../runtime/run-command.ts'
import { unpackedApp } from './contents.ts'
import type { Target } from './target.ts'
import { appVersion } from './version.ts'

/** Packs the unpacked app, without what makes an installed package look for updates: nothing could install one here. Files by name, owned by nobody in particular, all of one time: the same input gives the same archive. */
export async function makeTarball(target: Target, output: string): Promise<void> {
  const name = `countersign-${appVersion()}-linux-${target.arch}`
  const file = join(output, `${name}.tar.gz`)
  const time = process.env['SOURCE_DATE_EPOCH'] ?? '0'
  await run('tar', ['--create', '--gzip', '--file', file, '--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${time}`, `--transform=s,^\\.,${name},`, '--exclude=./resources/app-update.yml', '--exclude=./resources/package-type', '--directory', unpackedApp(target), '.'])
  console.log(`make: ${file}`)
}
