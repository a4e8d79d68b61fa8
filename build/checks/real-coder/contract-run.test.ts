import { describe } from 'vitest'
import { coderContract } from './contract.ts'

describe('the coder driven as opencode-run', () => { coderContract('opencode-run') })
