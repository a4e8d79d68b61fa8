import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const sample = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../resources/sample/task.json'), 'utf8')) as { title: string; requirement: string; criteria: string[]; testCommand: string }

/** The sample task's words as the lead gets them (core/lead/prompts). */
export const briefing = [
  `Task: ${sample.title}`, `Requirement:\n${sample.requirement}`, `Criteria of the owner:\n${sample.criteria.map((line) => `- ${line}`).join('\n')}`,
  `Test command (fixed by the owner): ${sample.testCommand}`, 'BEGIN file tree\nREADME.md\nsrc/shipping.ts\ntest/shipping.test.ts\nEND file tree', 'There is no README.',
].join('\n\n')

export const sampleRequirement = sample.requirement
export const sampleCriteria = sample.criteria

export interface Message { role: string; content: string | null; tool_call_id?: string; tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[] }

export const coderTools = ['read', 'write', 'edit', 'bash', 'question'].map((name) => ({ type: 'function', function: { name, parameters: {} } }))

/** A chat request of the coder. */
export function coderRequest(messages: readonly Message[], more: object = {}): Record<string, unknown> {
  return { model: 'demo', stream: true, tools: coderTools, messages: [{ role: 'system', content: 'You are Bot B, the coder.\n<env>\n  Working directory: /workspace\n  Is directory a git repo: no\n</env>' }, ...messages], ...more }
}

export function leadRequest(purpose: string, user: string): Record<string, unknown> {
  return { model: 'demo', stream: false, messages: [{ role: 'system', content: `You are Bot A, the lead. Purpose: ${purpose}.\nYou have no tools.` }, { role: 'user', content: user }] }
}
