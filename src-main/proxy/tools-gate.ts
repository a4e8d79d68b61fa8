import { listOf, recordOf } from '../core/preview/json-shape.ts'

/**
 * Whether a request carries tools, and so may be served direct only: a list of tools that is not empty (the legacy
 * `functions` count), a tool choice that forces one, or a history with tool calls or their results. Why each is so:
 * docs/proxy.md.
 */
export function carriesTools(body: Readonly<Record<string, unknown>>): boolean {
  if (saysAnything(body['tools']) || saysAnything(body['functions'])) return true
  if (forcesTool(body['tool_choice']) || forcesTool(body['function_call'])) return true
  return listOf(body['messages']).some(isToolMessage) || listOf(body['input']).some(isToolItem)
}

/** A list with an entry; or what is no list and yet there, which the vendor refuses and a fallback must not answer as if it were missing. */
function saysAnything(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value != null
}

/** `none` and `auto`, as a word or as an object's type, force nothing; whatever else is said does: `required`, `any`, a name. */
function forcesTool(choice: unknown): boolean {
  const kind = recordOf(choice)?.['type'] ?? choice
  return kind != null && kind !== 'none' && kind !== 'auto'
}

function isToolMessage(value: unknown): boolean {
  const message = recordOf(value)
  if (message === null) return false
  if (message['role'] === 'tool' || message['role'] === 'function' || saysAnything(message['tool_calls']) || message['function_call'] != null) return true
  return listOf(message['content']).some((part) => toolParts.has(recordOf(part)?.['type']))
}

/** Parts by which Anthropic-compatible gateways carry calls and results within the content. */
const toolParts: ReadonlySet<unknown> = new Set(['tool_use', 'tool_result', 'server_tool_use', 'tool_call', 'function_call'])

/** Every kind of call of the Responses API, and its output: function, custom tool, shell, computer, search, MCP. */
function isToolItem(value: unknown): boolean {
  const type = recordOf(value)?.['type']
  return typeof type === 'string' && /(_call|_call_output|^mcp_\w+)$/.test(type)
}
