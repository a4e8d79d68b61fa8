import { expect, test } from 'vitest'
import { seccompProgram, type Architecture } from './seccomp.ts'

const words: Readonly<Record<number, string>> = { 0x7fff_0000: 'allow', 0x8000_0000: 'kill', 0x0005_0001: 'EPERM', 0x0005_0026: 'ENOSYS', 0x0005_0061: 'EAFNOSUPPORT' }

/** Runs the program as the kernel would on `struct seccomp_data {nr, arch, ip, args[6]}` and names its answer. */
function run(program: Uint8Array, call: { readonly number: number; readonly audit: number; readonly first?: number }): string {
  const code = new DataView(program.buffer)
  const data: Readonly<Record<number, number>> = { 0: call.number, 4: call.audit, 16: call.first ?? 0 }
  let accumulator = 0
  for (let at = 0; at < program.length / 8;) {
    const [operation, whenTrue, whenFalse, value] = [code.getUint16(at * 8, true), code.getUint8(at * 8 + 2), code.getUint8(at * 8 + 3), code.getUint32(at * 8 + 4, true)]
    if (operation === 0x20) accumulator = data[value] ?? Number.NaN
    else if (operation === 0x06) return words[value] ?? value.toString(16)
    else {
      const holds = operation === 0x15 ? accumulator === value : operation === 0x35 ? accumulator >= value : (accumulator & value) !== 0
      at += holds ? whenTrue : whenFalse
    }
    at += 1
  }
  throw new Error('fell off the end')
}

const audit: Readonly<Record<Architecture, number>> = { x64: 0xc000_003e, arm64: 0xc000_00b7 }
const i386 = 0x4000_0003

const rows: readonly (readonly [string, Architecture, number, number | undefined, string])[] = [
  ['read', 'x64', 0, undefined, 'allow'],
  ['execve', 'x64', 59, undefined, 'allow'],
  ['keyctl', 'x64', 250, undefined, 'EPERM'],
  ['add_key', 'x64', 248, undefined, 'EPERM'],
  ['request_key', 'x64', 249, undefined, 'EPERM'],
  ['io_uring_setup', 'x64', 425, undefined, 'EPERM'],
  ['bpf', 'x64', 321, undefined, 'EPERM'],
  ['perf_event_open', 'x64', 298, undefined, 'EPERM'],
  ['mount', 'x64', 165, undefined, 'EPERM'],
  ['fsopen', 'x64', 430, undefined, 'EPERM'],
  ['unshare', 'x64', 272, undefined, 'EPERM'],
  ['setns', 'x64', 308, undefined, 'EPERM'],
  ['syslog', 'x64', 103, undefined, 'EPERM'],
  ['clone3', 'x64', 435, undefined, 'ENOSYS'],
  ['fork by clone', 'x64', 56, 0x11, 'allow'],
  ['a thread by clone', 'x64', 56, 0x3d_0f00, 'allow'],
  ['clone into a user namespace', 'x64', 56, 0x1000_0011, 'EPERM'],
  ['clone into a network namespace', 'x64', 56, 0x4000_0011, 'EPERM'],
  ['clone into a mount namespace', 'x64', 56, 0x0002_0011, 'EPERM'],
  ['a Unix socket', 'x64', 41, 1, 'allow'],
  ['an IPv4 socket', 'x64', 41, 2, 'allow'],
  ['an IPv6 socket', 'x64', 41, 10, 'allow'],
  ['a netlink socket', 'x64', 41, 16, 'allow'],
  ['a packet socket', 'x64', 41, 17, 'EAFNOSUPPORT'],
  ['a vsock socket', 'x64', 41, 40, 'EAFNOSUPPORT'],
  ['a crypto socket', 'x64', 41, 38, 'EAFNOSUPPORT'],
  ['any x32 call', 'x64', 0x4000_0000, undefined, 'ENOSYS'],
  ['keyctl', 'arm64', 219, undefined, 'EPERM'],
  ['mount', 'arm64', 40, undefined, 'EPERM'],
  ['unshare', 'arm64', 97, undefined, 'EPERM'],
  ['clone into a user namespace', 'arm64', 220, 0x1000_0011, 'EPERM'],
  ['fork by clone', 'arm64', 220, 0x11, 'allow'],
  ['a vsock socket', 'arm64', 198, 40, 'EAFNOSUPPORT'],
  ['a Unix socket', 'arm64', 198, 1, 'allow'],
  ['read', 'arm64', 63, undefined, 'allow'],
]

test.each(rows)('answers %s (%s, call %i, first argument %s) with %s', (_name, architecture, number, first, answer) => {
  expect(run(seccompProgram(architecture), { number, audit: audit[architecture], ...(first === undefined ? {} : { first }) })).toBe(answer)
})

test.each(['x64', 'arm64'] as const)('kills whoever calls through a foreign ABI on %s', (architecture) => {
  expect(run(seccompProgram(architecture), { number: 0, audit: i386 })).toBe('kill')
})
