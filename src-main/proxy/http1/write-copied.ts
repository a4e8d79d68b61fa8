import type { Socket } from 'node:net'
import { http1Limits } from './http1-limits.ts'

/** Where pieces are put together: the same memory again for as long as what was put there has left at once, which is nearly always so. */
let desk = Buffer.allocUnsafeSlow(http1Limits.deskBytes)

/**
 * Sends a text (a byte for each character) and pieces of bytes in one write. Nothing that was handed in is held afterwards: a
 * piece may stand in memory that the next read overwrites. Returns what the socket's own `write` does.
 */
export function writeCopied(socket: Socket, text: string, pieces: readonly Buffer[]): boolean {
  let bytes = text.length
  for (const piece of pieces) bytes += piece.length
  // Behind what waits already, memory of its own: the desk is too large to be kept for a few bytes more than once. A secure socket never takes all at once.
  const onDesk = bytes <= desk.length && !hasWaiting(socket) && !('encrypted' in socket)
  const whole = onDesk ? desk : Buffer.allocUnsafe(bytes)
  let at = text === '' ? 0 : whole.write(text, 'latin1')
  for (const piece of pieces) at += piece.copy(whole, at)
  const taken = socket.write(whole.length === bytes ? whole : whole.subarray(0, bytes))
  // The system did not take all of it: what waits stands on the desk, which is left to it.
  if (onDesk && hasWaiting(socket)) desk = Buffer.allocUnsafeSlow(http1Limits.deskBytes)
  return taken
}

function hasWaiting(socket: Socket): boolean {
  return socket.writableLength > 0
}
