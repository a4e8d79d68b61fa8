/** All limits, in one place. Source: design contracts 1–7. */
export const limits = {
  envelopeBytesMax: 32 * 1024,
  taskInputBytesMax: 16 * 1024,
  resultBytesMax: 16 * 1024,
  progressCharsMax: 2_000,
  turnsMax: 4,
  contentMessagesMax: 8,
  progressEventsMax: 12,
  concurrentTasksMax: 2,
  taskDeadlineMs: 10 * 60_000,
  questionDeadlineMs: 5 * 60_000,
  holdShownWithinMs: 5_000,
  inputGraceMs: 600,
  /** From a card's shown-at receipt; no person has read and answered it sooner. The window waits longer by itself. */
  humanDecisionMs: 300,
  previewHeldBytesMax: 64 * 1024,
  previewTailCharsMax: 4_000,
  toolOutputHeldBytesMax: 64 * 1024,
  proxyBodyBytesMax: 32 * 1024 * 1024,
  proxyBodyValuesMax: 200_000,
  proxyBodyDepthMax: 1_000,
  proxyDefaultPort: 18_747,
  requestsPerTurnMax: 60,
  versionProbeMs: 3_000,
  versionUnknownForMs: 5_000,
  folderFilesMax: 50_000,
  folderBytesMax: 2 * 1024 * 1024 * 1024,
  commandTextBytesMax: 64 * 1024,
  editDiffBytesMax: 64 * 1024,
  laneQueueMax: 4_096,
  leadRetriesMax: 2,
  standingGrantsMax: 50,
} as const

/** What is said of a command that was stopped, as of one that passed a limit, where nothing was passed. */
export const stoppedEarly = 'was stopped before it ended'

/** What no owner's budget passes, also not by a top-up. `moneyMicroUsdMax`: 10,000 US dollars. */
export const budgetMaxima = { turnsMax: 64, messagesMax: 128, requestsMax: 10_000, tokensMax: 100_000_000, moneyMicroUsdMax: 10_000_000_000 } as const

/** What one sandbox may use, the coder's own and each command's, until the owner sets it otherwise for this machine. Settings → Isolation and the cards show what is in force. */
export const defaultSandboxLimits = {
  /** All processes of a sandbox together, resident; looked at several times a second. */
  memoryBytesMax: 4 * 1024 ** 3,
  /** Processes and threads. */
  processesMax: 512,
  /** Of one command, all its processes together. */
  commandCpuMsMax: 30 * 60_000,
  fileBytesMax: 2 * 1024 ** 3,
} as const

/** Between what the owner may set them, both ends included. Below the least OpenCode itself could not work: it takes 400 MB and some 40 threads, and keeps a database. */
export const sandboxLimitBounds = {
  memoryBytesMax: { min: 1024 ** 3, max: 256 * 1024 ** 3 },
  processesMax: { min: 128, max: 8_192 },
  commandCpuMsMax: { min: 60_000, max: 8 * 60 * 60_000 },
  fileBytesMax: { min: 64 * 1024 ** 2, max: 256 * 1024 ** 3 },
} as const

/** What a sandbox may use and nobody changes. */
export const isolationLimits = {
  /** Of one process, kept by the kernel: bounds what happens between two looks. At least this, else twice what a sandbox may have. OpenCode itself dies at 3e9. */
  processMemoryBytesMin: 8 * 1024 ** 3,
  commandMsMax: 10 * 60_000,
  commandOutputBytesMax: 64 * 1024 * 1024,
  tmpBytesMax: 512 * 1024 * 1024,
  /** A sandbox that fills the disk down to this is ended. */
  diskFreeBytesMin: 1024 ** 3,
} as const
