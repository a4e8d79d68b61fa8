/** Processor architectures that the filter knows. */
export type Architecture = 'x64' | 'arm64'

interface CallTable { readonly auditArchitecture: number; readonly socket: number; readonly clone: number; readonly denied: Readonly<Record<string, number>> }

/** Same numbers on every architecture. */
const commonDenied = { io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427, open_tree: 428, move_mount: 429, fsopen: 430, fsconfig: 431, fsmount: 432, fspick: 433, mount_setattr: 442 } as const

/** Source: Linux `arch/x86/entry/syscalls/syscall_64.tbl`, `include/uapi/asm-generic/unistd.h`, `include/uapi/linux/audit.h`. */
const tables: Readonly<Record<Architecture, CallTable>> = {
  x64: {
    auditArchitecture: 0xc000_003e, socket: 41, clone: 56,
    denied: {
      ...commonDenied, add_key: 248, request_key: 249, keyctl: 250, bpf: 321, perf_event_open: 298, userfaultfd: 323, mount: 165, umount2: 166, pivot_root: 155, setns: 308, unshare: 272,
      open_by_handle_at: 304, kexec_load: 246, kexec_file_load: 320, init_module: 175, finit_module: 313, delete_module: 176, syslog: 103, swapon: 167, swapoff: 168, reboot: 169, acct: 163,
    },
  },
  arm64: {
    auditArchitecture: 0xc000_00b7, socket: 198, clone: 220,
    denied: {
      ...commonDenied, add_key: 217, request_key: 218, keyctl: 219, bpf: 280, perf_event_open: 241, userfaultfd: 282, mount: 40, umount2: 39, pivot_root: 41, setns: 268, unshare: 97,
      open_by_handle_at: 265, kexec_load: 104, kexec_file_load: 294, init_module: 105, finit_module: 273, delete_module: 106, syslog: 116, swapon: 224, swapoff: 225, reboot: 142, acct: 89,
    },
  },
}

/** The calls that the filter refuses, by name and number. */
export function deniedCalls(architecture: Architecture): Readonly<Record<string, number>> {
  return tables[architecture].denied
}

const clone3 = 435
const x32Bit = 0x4000_0000
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET (`include/uapi/linux/sched.h`). */
const namespaceFlags = 0x7e02_0000
/** UNIX, INET, INET6, NETLINK: what programs use, all of it useless in an empty network namespace. */
const allowedFamilies = [1, 2, 10, 16] as const

// Classic BPF opcodes and seccomp's answers (`include/uapi/linux/{bpf_common,seccomp}.h`).
const load = 0x20
const ifEqual = 0x15
const ifAtLeast = 0x35
const ifBits = 0x45
const answer = 0x06
const allow = 0x7fff_0000
const killProcess = 0x8000_0000
const errno = (number: number): number => 0x0005_0000 | number
const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97

// Offsets in `struct seccomp_data`; the arguments are 64 bits, little-endian, and those looked at fit 32.
const offsetNumber = 0
const offsetArchitecture = 4
const offsetFirstArgument = 16

type Instruction = readonly [code: number, value: number, ifTrue?: number, ifFalse?: number]

function instructions(table: CallTable, hasX32: boolean): readonly Instruction[] {
  const deny = (number: number, code: number): readonly Instruction[] => [[ifEqual, number, 0, 1], [answer, errno(code)]]
  return [
    [load, offsetArchitecture],
    [ifEqual, table.auditArchitecture, 1, 0],
    [answer, killProcess],
    [load, offsetNumber],
    ...(hasX32 ? ([[ifAtLeast, x32Bit, 0, 1], [answer, errno(ENOSYS)]] as const) : []),
    ...Object.values(table.denied).flatMap((number) => deny(number, EPERM)),
    // Its flags are behind a pointer that a filter cannot read; libc falls back to clone.
    ...deny(clone3, ENOSYS),
    [ifEqual, table.clone, 0, 4],
    [load, offsetFirstArgument],
    [ifBits, namespaceFlags, 0, 1],
    [answer, errno(EPERM)],
    [answer, allow],
    [ifEqual, table.socket, 1, 0],
    [answer, allow],
    [load, offsetFirstArgument],
    ...allowedFamilies.flatMap((family): readonly Instruction[] => [[ifEqual, family, 0, 1], [answer, allow]]),
    [answer, errno(EAFNOSUPPORT)],
  ]
}

/**
 * The filter as bwrap's `--seccomp FD` reads it: an array of `struct sock_filter`, 8 bytes each, little-endian.
 * Everything is allowed but: kernel keyrings, io_uring, bpf, perf, userfaultfd, mounts, new namespaces, modules, the kernel log,
 * and sockets of other families than UNIX, INET, INET6 and NETLINK. A foreign ABI kills the process.
 */
export function seccompProgram(architecture: Architecture): Uint8Array {
  const program = instructions(tables[architecture], architecture === 'x64')
  const bytes = new DataView(new ArrayBuffer(program.length * 8))
  program.forEach(([code, value, ifTrue = 0, ifFalse = 0], index) => {
    bytes.setUint16(index * 8, code, true)
    bytes.setUint8(index * 8 + 2, ifTrue)
    bytes.setUint8(index * 8 + 3, ifFalse)
    bytes.setUint32(index * 8 + 4, value >>> 0, true)
  })
  return new Uint8Array(bytes.buffer)
}
