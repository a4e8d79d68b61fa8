/** Limits of the two ends of HTTP/1.1. */
export const http1Limits = {
  requestHeadBytesMax: 32 * 1024,
  replyHeadBytesMax: 64 * 1024,
  interimRepliesMax: 16,
  /** From a request's first byte to the end of its head, and to the end of its body. */
  requestHeadMs: 60_000,
  requestBodyMs: 300_000,
  /** A client's connection between two requests. */
  clientIdleMs: 75_000,
  /** While it takes nothing of an answer that waits for it: its vendor's connection waits as well. */
  answerUnreadMs: 120_000,
  /** What a client may send ahead while it is being answered. */
  aheadBytesMax: 64 * 1024,
  /** Bodies that are being read, of all clients of a door together. */
  intakeBytesMax: 256 * 1024 * 1024,
  /** The rest of a refused request's body, read over so that the client can read the answer. */
  discardBytesMax: 128 * 1024 * 1024,
  /** After the last word to a client that is to go, until it is cut off. */
  lingerMs: 2_000,
  clientsMax: 8_192,
  sweepMs: 1_000,
  /** A vendor's connection between two requests, where it says nothing of it, and at most. */
  vendorIdleMs: 4_000,
  vendorIdleMsMax: 60_000,
  vendorIdleConnectionsMax: 64,
  /** A request's head and body are sent as one piece up to this; larger ones are not copied. */
  copiedBytesMax: 16 * 1024,
  /** What one read of a vendor takes, and room to send it on with its head and its chunk's lines. */
  vendorReadBytes: 64 * 1024,
  deskBytes: 80 * 1024,
  /** Larger heads are not kept to compare the next one with. */
  rememberedHeadBytesMax: 4 * 1024,
} as const
