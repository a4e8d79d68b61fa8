const machines = {
  elf: { 0x3e: 'linux-x64', 0xb7: 'linux-arm64' },
  mach: { 0x01000007: 'darwin-x64', 0x0100000c: 'darwin-arm64' },
  pe: { 0x8664: 'win32-x64', 0xaa64: 'win32-arm64' },
} as const

const word = (table: Readonly<Record<number, string>>, machine: number): readonly string[] => (table[machine] === undefined ? [] : [table[machine]])
const universalSlicesMax = 16

/**
 * Which platforms and processors an executable or addon is for, from its first bytes: ELF (elf(5), e_machine), Mach-O (`mach-o/loader.h` and
 * `mach-o/fat.h`, where one file may be for several), PE (Microsoft's PE format, COFF header). Empty for anything else.
 */
export function processorsOf(head: Buffer): readonly string[] {
  if (head.length < 64) return []
  if (head.readUInt32BE(0) === 0x7f454c46) return word(machines.elf, head.readUInt16LE(18))
  if (head.readUInt32LE(0) === 0xfeedfacf) return word(machines.mach, head.readUInt32LE(4))
  if (head.readUInt32BE(0) === 0xcafebabe) {
    const count = Math.min(head.readUInt32BE(4), universalSlicesMax)
    return Array.from({ length: count }, (_, slice) => 8 + slice * 20).flatMap((at) => (at + 4 <= head.length ? word(machines.mach, head.readUInt32BE(at)) : []))
  }
  if (head.readUInt16BE(0) === 0x4d5a) {
    const at = head.readUInt32LE(60)
    return at + 6 <= head.length && head.readUInt32BE(at) === 0x50450000 ? word(machines.pe, head.readUInt16LE(at + 4)) : []
  }
  return []
}
