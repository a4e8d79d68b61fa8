import { listOf, recordOf } from '../core/preview/json-shape.ts'

/**
 * Whether a request carries tools, and so may be served direct only: a list of tools that is not empty, a tool choice
 * that forces one, or a history with tool calls or their results. The legacy `functions` count as tools.
 */
export function carriesTools(body: Readonly<Record<string, unknown>>): boolean {
  if (listOf(body['tools']).length > 0 || listOf(body['functions']).length > 0) return true
  if (forcesTool(body['tool_choice']) || forcesTool(body['function_call'])) return true
  return listOf(body['messages']).some(isToolMessage) || listOf(body['input']).some(isToolItem)
}

function forcesTool(choice: unknown): boolean {
  return choice === 'required' || recordOf(choice) !== null
}

function isToolMessage(value: unknown): boolean {
  const message = recordOf(value)
  if (message === null) return false
  return message['role'] === 'tool' || message['role'] === 'function' || listOf(message['tool_calls']).length > 0 || recordOf(message['function_call']) !== null
}

function isToolItem(value: unknown): boolean {
  const type = recordOf(value)?.['type']
  return typeof type === 'string' && /_call(_output)?$/.test(type)
}
