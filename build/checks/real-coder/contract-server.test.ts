import { describe } from 'vitest'
import { coderContract } from './contract.ts'

describe('the coder driven as opencode-server', () => { coderContract('opencode-server') })
