/** Limits that only the proxy has; the shared ones are in the contract. */
export const proxyLimits = {
  connectMs: 10_000,
  /** From the request's last byte to the response's head. Reasoning models think for minutes. */
  headMs: 300_000,
  /** No byte at all within an open stream. */
  byteIdleMs: 120_000,
  /** Only comments or blank lines within an open stream. */
  eventIdleMs: 240_000,
  /** Silence within an open reply that is told of. */
  quietMs: 10_000,
  admissionMs: 60_000,
  eventCharsMax: 16 * 1024 * 1024,
  replyHeldBytesMax: 8 * 1024 * 1024,
  errorHeldBytesMax: 64 * 1024,
  refusalsMax: 64,
  previewPaceMs: 8,
  /** Alone: from a call's end until its line is printed, together with those of the calls that ended meanwhile. */
  tellMs: 50,
  /** A vendor's server: from its start until it answers HTTP, between two looks, and unused until it is ended. */
  warmReadyMs: 20_000,
  warmPollMs: 100,
  warmIdleMs: 600_000,
  warmBackoffMs: 1_000,
  warmBackoffMsMax: 60_000,
  warmConnectionsMax: 32,
  /** Until the first text of a warm answer, and between two pieces of it. */
  warmFirstTextMs: 180_000,
  warmSilentMs: 120_000,
  /** One run of the vendor's program, and what it may print. */
  execMs: 300_000,
  /** One exchange of a credential; tokens are renewed this long before they end (or a tenth of their life), and not used in their last seconds. */
  exchangeMs: 15_000,
  exchangesMax: 64,
  tokenEarlyMs: 60_000,
  tokenLastMs: 10_000,
  tokenLifeUnknownMs: 300_000,
  tokenLifeMsMax: 24 * 3_600_000,
  /** From the order to stop until what was open has ended. The app kills the process after three seconds. */
  stopMs: 2_000,
  vendorTextBytesMax: 4 * 1024 * 1024,
} as const
