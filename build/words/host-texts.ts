import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { anyValue } from '../../src-words/said.ts'

/** A text that the source builds, with `anyValue` for each value in it. `told`: it stands where the owner may come to read it, and says something. */
export interface HostText { readonly path: string; readonly line: number; readonly text: string; readonly told: boolean }

/** Of one expression at most so many texts are told apart; beyond that what it chooses between counts as a value. */
const variantsMax = 96

/** Calls whose texts nobody reads in the window: the log, SQL, comparisons with what others wrote. */
const unreadCalls = /(?:^|[.#?])(?:log|debug|warn)(?:\?\.)?$|(?:^|[.#])log(?:\?)?\.\w+$|^console\.|\.(?:prepare|exec|pragma|startsWith|endsWith|includes|indexOf|split|replace|replaceAll|regex|test|match)$/
/** Members whose single words are read too: a label needs no second one. */
const tellingMembers: ReadonlySet<string> = new Set(['label', 'title', 'text', 'message', 'todo', 'value', 'why', 'cause', 'detail', 'summary'])
/** Functions whose texts are told, word or sentence. */
const tellingCalls = /^(?:failure|wrongState|fault|refuse)$/

/** Every text that the sources of a folder build. */
export function hostTexts(folder: string): readonly HostText[] {
  const root = resolve(import.meta.dirname, '../..')
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/\.(?:test|suite|d)\.ts$/.test(path))
    .flatMap((path) => textsIn(join(folder, path), readFileSync(join(root, folder, path), 'utf8')))
}

/** The same of one source. */
export function textsIn(path: string, source: string): readonly HostText[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.ESNext, true)
  const found: HostText[] = []
  const taken = new Set<ts.Node>()
  const visit = (node: ts.Node, within: boolean): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return
    const unread = within || isUnread(node)
    if (ts.isExpression(node) && !taken.has(node)) {
      const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1
      for (const text of new Set(textsOf(node, taken) ?? [])) found.push({ path, line, text, told: !unread && (hasWords(text) || (/\p{L}{2,}/u.test(text) && isTold(node))) })
    }
    ts.forEachChild(node, (child) => { visit(child, unread) })
  }
  visit(file, false)
  return found
}

/** Whether a single word that stands here is read by the owner. */
function isTold(node: ts.Node): boolean {
  let outer = node.parent
  while (ts.isConditionalExpression(outer) || ts.isParenthesizedExpression(outer) || ts.isBinaryExpression(outer)) outer = outer.parent
  return ts.isPropertyAssignment(outer) ? tellingMembers.has(outer.name.getText()) : ts.isCallExpression(outer) && tellingCalls.test(outer.expression.getText()) && outer.arguments[0] !== node
}

/** Whether a text says something: two words, a word beside a value, or one word as a sentence. */
function hasWords(text: string): boolean {
  return /\p{L}{2,}[,:;.)”"’]* [(“"]?(?:\p{L}{2,}|\uE000)|\uE000[,:;.)”"]* \p{L}{2,}|\uE000 · \p{L}{2,}|\p{L}{2,} · \uE000|^\p{Lu}\p{L}+\.$/u.test(text)
}

/** Whether nobody is shown what stands below a node. */
function isUnread(node: ts.Node): boolean {
  // What is thrown is a bug, and the log has it; an error that is handed to a call may be told.
  if (ts.isThrowStatement(node)) return true
  if (ts.isNewExpression(node)) return node.expression.getText() === 'RegExp'
  const parent = node.parent as ts.Node | undefined
  if (parent === undefined) return false
  if (ts.isCaseClause(parent)) return parent.expression === node
  if (ts.isCallExpression(parent) && parent.expression !== node) return unreadCalls.test(parent.expression.getText())
  if (ts.isBinaryExpression(parent)) return [ts.SyntaxKind.EqualsEqualsEqualsToken, ts.SyntaxKind.ExclamationEqualsEqualsToken, ts.SyntaxKind.InKeyword].includes(parent.operatorToken.kind)
  if (ts.isElementAccessExpression(parent)) return parent.argumentExpression === node
  return (ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent)) && parent.name === node
}

/** The texts that an expression can be, or null where it is no text that stands here. `taken` gets the nodes that are told by it. */
function textsOf(node: ts.Expression, taken: Set<ts.Node>): readonly string[] | null {
  const texts = variants(node, taken)
  if (texts !== null) taken.add(node)
  return texts
}

function variants(node: ts.Expression, taken: Set<ts.Node>): readonly string[] | null {
  if (ts.isStringLiteralLike(node)) return [node.text]
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node) || ts.isNonNullExpression(node)) return textsOf(node.expression, taken)
  if (ts.isTemplateExpression(node)) return node.templateSpans.reduce<readonly string[]>((before, span) => product(product(before, textsOf(span.expression, taken)), [span.literal.text]), [node.head.text])
  if (ts.isConditionalExpression(node)) return either(textsOf(node.whenTrue, taken), textsOf(node.whenFalse, taken))
  if (ts.isBinaryExpression(node)) return ofTwo(node, taken)
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && ['slice', 'trim', 'trimEnd'].includes(node.expression.name.text)) return textsOf(node.expression.expression, taken)
  return null
}

function ofTwo({ left, right, operatorToken: { kind } }: ts.BinaryExpression, taken: Set<ts.Node>): readonly string[] | null {
  if (kind === ts.SyntaxKind.QuestionQuestionToken || kind === ts.SyntaxKind.BarBarToken) {
    // What stands in for a value that is always there says nothing.
    return ts.isStringLiteralLike(right) && right.text === '' ? textsOf(left, taken) : either(textsOf(left, taken), textsOf(right, taken))
  }
  if (kind !== ts.SyntaxKind.PlusToken) return null
  const [before, after] = [textsOf(left, taken), textsOf(right, taken)]
  return before === null && after === null ? null : product(before ?? [anyValue], after)
}

function either(one: readonly string[] | null, other: readonly string[] | null): readonly string[] | null {
  return one === null && other === null ? null : [...new Set([...(one ?? [anyValue]), ...(other ?? [anyValue])])]
}

function product(before: readonly string[], after: readonly string[] | null): readonly string[] {
  const ends = after === null || before.length * after.length > variantsMax ? [anyValue] : after
  return before.flatMap((start) => ends.map((end) => start + end))
}
