// Imports point one way: contract <- core <- engine <- {adapters, shell, proxy, demo} <- index.ts; renderer -> contract.
const inTest = '\\.(test|suite)\\.tsx?$'

/** Files under `from` may import, of the repository's own files, only what matches one of `to`. */
function mayImportOnly(name, from, to) {
  return {
    name,
    severity: 'error',
    from: { path: from, pathNot: inTest },
    to: { path: '^(src-|e2e/|build/|electron\\.vite)', pathNot: to },
  }
}

const contract = '^src-preload/contract/'
const words = '^src-words/'
const core = '^src-main/core/'
const engine = '^src-main/engine/'

export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'everything-resolves', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: '^(electron|virtual:)' } },
    mayImportOnly('contract-stands-alone', contract, [contract]),
    mayImportOnly('words-stand-alone', words, [words]),
    mayImportOnly('core-knows-contract', core, [core, contract]),
    mayImportOnly('engine-knows-core', engine, [engine, core, contract]),
    mayImportOnly('adapters-know-engine', '^src-main/adapters/', ['^src-main/adapters/', engine, core, contract]),
    {
      name: 'sibling-adapters-are-strangers',
      severity: 'error',
      from: { path: '^src-main/adapters/([^/]+)/', pathNot: inTest },
      to: { path: '^src-main/adapters/', pathNot: '^src-main/adapters/$1/' },
    },
    {
      name: 'tests-of-an-adapter-may-use-the-doubles',
      severity: 'error',
      from: { path: '^src-main/adapters/([^/]+)/.*\\.(test|suite)\\.ts$' },
      to: { path: '^src-main/adapters/', pathNot: ['^src-main/adapters/$1/', '^src-main/adapters/memory/'] },
    },
    mayImportOnly('shell-knows-engine', '^src-main/shell/', ['^src-main/shell/', engine, core, contract, words]),
    mayImportOnly('proxy-shares-core-and-contract', '^src-main/proxy/', ['^src-main/proxy/', core, contract]),
    mayImportOnly('demo-shares-core-and-contract', '^src-main/demo/', ['^src-main/demo/', core, contract]),
    mayImportOnly('bridge-knows-contract', '^src-preload/[^/]+\\.ts$', ['^src-preload/']),
    mayImportOnly('renderer-knows-contract', '^src-renderer/(?!dev/vite)', ['^src-renderer/', contract, words]),
    {
      name: 'electron-only-in-shell',
      severity: 'error',
      from: { path: '^src-', pathNot: ['^src-main/shell/', '^src-main/(index|start)\\.ts$', '^src-preload/index\\.ts$'] },
      to: { path: '(^|/)electron(/|$)', dependencyTypes: ['npm', 'npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown'] },
    },
    {
      name: 'what-ships-needs-a-dependency',
      severity: 'error',
      // src-renderer/dev opens the window on fixtures, and does not ship.
      from: { path: '^src-', pathNot: [inTest, '^src-renderer/dev/'] },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg'], pathNot: ['node_modules/electron/', 'node_modules/@types/'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(node_modules/\\.cache|out|dist)/' },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'], extensions: ['.ts', '.tsx', '.mjs', '.js', '.d.ts'] },
    moduleSystems: ['es6', 'cjs'],
  },
}
