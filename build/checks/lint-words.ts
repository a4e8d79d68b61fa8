import type { ESLint, Rule } from 'eslint'

/** A node of ESLint's tree, JSX included, which its own types leave out. */
interface SyntaxNode { readonly type: string; readonly parent?: SyntaxNode; readonly [key: string]: unknown }

/** Attributes and properties whose text somebody reads or hears. */
const shown = new Set(['aria-label', 'aria-description', 'aria-roledescription', 'aria-valuetext', 'title', 'placeholder', 'label', 'hint', 'alt', 'error', 'text', 'detail', 'words', 'usual'])
const letters = /\p{L}/u

/** Names that are the same in every language, alone or before a version. */
const name = /^(?:OpenCode|Electron|Chromium|SQLite|Node|GET|POST)\s*$/
const isText = (text: unknown): boolean => typeof text === 'string' && letters.test(text) && !name.test(text)

const of = (node: SyntaxNode, key: string): SyntaxNode | undefined => node[key] as SyntaxNode | undefined

/** The pieces of an expression that are text as they stand: literals, templates, both sides of a choice. */
function literalPieces(node: SyntaxNode | null | undefined): readonly SyntaxNode[] {
  if (node === null || node === undefined) return []
  switch (node.type) {
    case 'Literal': return isText(node['value']) ? [node] : []
    case 'TemplateLiteral': return [...(node['quasis'] as SyntaxNode[]).filter((quasi) => isText((quasi['value'] as { readonly raw: string }).raw)), ...(node['expressions'] as SyntaxNode[]).flatMap(literalPieces)]
    case 'ConditionalExpression': return [...literalPieces(of(node, 'consequent')), ...literalPieces(of(node, 'alternate'))]
    case 'LogicalExpression': return [...literalPieces(of(node, 'left')), ...literalPieces(of(node, 'right'))]
    case 'BinaryExpression': return node['operator'] === '+' ? [...literalPieces(of(node, 'left')), ...literalPieces(of(node, 'right'))] : []
    case 'JSXExpressionContainer': return literalPieces(of(node, 'expression'))
    default: return []
  }
}

function rule(message: string, listen: (report: (nodes: readonly SyntaxNode[]) => void) => Readonly<Record<string, (node: SyntaxNode) => void>>): Rule.RuleModule {
  return {
    meta: { type: 'problem', schema: [], messages: { broken: message } },
    create: (context) => listen((nodes) => { for (const node of nodes) context.report({ node: node as unknown as Rule.Node, messageId: 'broken' }) }) as unknown as Rule.RuleListener,
  }
}

const noLiteralText = rule('What somebody reads comes from the catalogue (src-words/en), so that it has a translation.', (report) => ({
  JSXText: (node) => { if (isText(node['value'])) report([node]) },
  ':matches(JSXElement, JSXFragment) > JSXExpressionContainer': (node) => { report(literalPieces(node)) },
  JSXAttribute: (node) => {
    const attribute = String(of(node, 'name')?.['name'])
    // An example of what is typed as it stands: an address, a command.
    const isCode = attribute === 'placeholder' && (node.parent?.['attributes'] as readonly SyntaxNode[]).some((one) => of(one, 'name')?.['name'] === 'mono')
    if (!isCode && shown.has(attribute)) report(literalPieces(of(node, 'value')))
  },
  'CallExpression[callee.name="say"] > ObjectExpression > Property': (node) => { if (shown.has(String(of(node, 'key')?.['name']))) report(literalPieces(of(node, 'value'))) },
}))

const functions = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

const readWhileDrawing = rule('A word that is read when the file is loaded stays in the first language. Read it in a function.', (report) => ({
  'MemberExpression[object.name="t"]': (node) => {
    for (let at = node.parent; at !== undefined; at = at.parent) if (functions.has(at.type)) return
    report([node])
  },
}))

const memoSpeaks = rule('A memo does not redraw when the language changes: call useSpoken() in it.', (report) => ({
  'CallExpression[callee.name="memo"]': (node) => {
    const [drawn] = node['arguments'] as readonly SyntaxNode[]
    const body = drawn === undefined ? undefined : of(drawn, 'body')
    const statements = (body?.['body'] ?? []) as readonly SyntaxNode[]
    const speaks = statements.some((statement) => {
      const call = statement.type === 'ExpressionStatement' ? of(statement, 'expression') : statement.type === 'VariableDeclaration' ? of((statement['declarations'] as SyntaxNode[])[0] ?? statement, 'init') : undefined
      return call?.type === 'CallExpression' && of(call, 'callee')?.['name'] === 'useSpoken'
    })
    if (!speaks) report([node])
  },
}))

/** Members of rows and answers that hold sentences of the main process. */
const saidByMain = new Set(['message', 'todo', 'detail', 'explained', 'reaskReason', 'waitingFor', 'waitsFor', 'runtimeNote', 'why', 'cause', 'reason', 'isolation'])

/** Whether it is a word of the catalogue, `t.group.name`. */
function isWord(node: SyntaxNode): boolean {
  const object = of(node, 'object')
  return object?.type === 'MemberExpression' ? isWord(object) : object?.['name'] === 't'
}

/** The pieces of an expression that come out as they are: members, those in templates, both sides of a choice. */
function memberPieces(node: SyntaxNode | null | undefined): readonly SyntaxNode[] {
  if (node === null || node === undefined) return []
  switch (node.type) {
    case 'MemberExpression': return saidByMain.has(String(of(node, 'property')?.['name'])) && !isWord(node) ? [node] : []
    case 'TemplateLiteral': return (node['expressions'] as SyntaxNode[]).flatMap(memberPieces)
    case 'ConditionalExpression': return [...memberPieces(of(node, 'consequent')), ...memberPieces(of(node, 'alternate'))]
    case 'LogicalExpression': return [...memberPieces(of(node, 'left')), ...memberPieces(of(node, 'right'))]
    case 'JSXExpressionContainer': return memberPieces(of(node, 'expression'))
    default: return []
  }
}

const translatesSaid = rule('What the main process says is English: show it with translated().', (report) => ({
  ':matches(JSXElement, JSXFragment) > JSXExpressionContainer': (node) => { report(memberPieces(node)) },
  JSXAttribute: (node) => { if (shown.has(String(of(node, 'name')?.['name'])) || of(node, 'name')?.['name'] === 'value') report(memberPieces(of(node, 'value'))) },
  'CallExpression[callee.object.object.name="t"] > ObjectExpression > Property': (node) => { report(memberPieces(of(node, 'value'))) },
}))

/** Rules for the words of the window. */
export const wordRules: ESLint.Plugin = { rules: { 'translates-said': translatesSaid, 'no-literal-text': noLiteralText, 'read-while-drawing': readWhileDrawing, 'memo-speaks': memoSpeaks } }
