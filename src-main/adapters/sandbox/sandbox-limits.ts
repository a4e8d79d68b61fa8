import { isolationLimits } from '../../../src-preload/contract/limits.ts'

/** Bounds of this adapter. Those of the contract, and what a sandbox may use, are in `src-preload/contract/limits.ts`. */
export const sandboxLimits = {
  probeMs: 3_000,
  probeCachedForMs: 5_000,
  setUpMs: 5_000,
  /** How long a killed tree may take to be gone before a stop counts as failed. */
  emptyWithinMs: 20_000,
  /** After that long a killed sandbox's first process should have taken all others along; whoever is left is killed one by one. */
  emptyByItselfMs: 500,
  socketPathBytesMax: 99,
  tmpBytes: isolationLimits.tmpBytesMax,
  sharedMemoryBytes: 64 * 1024 * 1024,
  commandHomeBytes: 64 * 1024 * 1024,
  /** A command of the coder; OpenCode's own limit is usually shorter. */
  commandMs: isolationLimits.commandMsMax,
  commandOutputBytesMax: isolationLimits.commandOutputBytesMax,
  commandsAtOnceMax: 8,
  commandWatchedEveryMs: 200,
  agentWatchedEveryMs: 1_000,
  /** Where processes are listed by `ps`. */
  listedEveryMs: 1_000,
  /** A trial of the agent's profile, which starts OpenCode's binary. */
  agentTrialMs: 15_000,
  processesLookedAtMax: 4_096,
  brokerConnectionsMax: 64,
  brokerRequestBytesMax: 512 * 1024,
  brokerRequestWithinMs: 10_000,
  /** Evidence holds at most 20,000 characters of a log; bytes are never fewer than characters. */
  logTailBytesMax: 16_000,
  lineCharsMax: 64 * 1024,
  setUpTextCharsMax: 4_000,
} as const
