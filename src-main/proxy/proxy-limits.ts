/** Limits that only the proxy has; the shared ones are in the contract. */
export const proxyLimits = {
  connectMs: 10_000,
  /** From the request's last byte to the response's head. Reasoning models think for minutes. */
  headMs: 300_000,
  /** No byte at all within an open stream. */
  byteIdleMs: 120_000,
  /** Only comments or blank lines within an open stream. */
  eventIdleMs: 240_000,
  admissionMs: 60_000,
  eventCharsMax: 16 * 1024 * 1024,
  replyHeldBytesMax: 8 * 1024 * 1024,
  errorHeldBytesMax: 64 * 1024,
  refusalsMax: 64,
  previewPaceMs: 8,
} as const
