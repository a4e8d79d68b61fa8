import { execFile } from 'node:child_process'
import { close, constants, open } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { handOver } from './unprivileged.ts'

const execute = promisify(execFile)
// Bare descriptors: the socket owns the one, a file handle would close it a second time.
const openFile = promisify(open)
const closeFile = promisify(close)
let count = 0

/**
 * A real pipe, for stdout and stderr together: what was written first comes first, and `/dev/stdout` can be opened
 * (the socket pairs that Node makes cannot). `closeWriter` must be called once the writer has its own copy; then `reader` ends
 * when the last writer inside is gone.
 */
export async function openOutputPipe(folder: string): Promise<{ readonly reader: Socket; readonly writerFd: number; closeWriter(): Promise<void> }> {
  count += 1
  const path = join(folder, `out-${process.pid}-${count}`)
  await execute('mkfifo', ['-m', '600', path], { env: { PATH: '/usr/bin:/bin' } })
  // `/dev/stdout` is opened by who runs inside.
  await handOver(path)
  // Reading first and without waiting: a FIFO otherwise opens only when its other end does.
  const readEnd = await openFile(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writeEnd = await openFile(path, constants.O_WRONLY)
  await unlink(path)
  return { reader: new Socket({ fd: readEnd, readable: true, writable: false }), writerFd: writeEnd, closeWriter: () => closeFile(writeEnd) }
}
