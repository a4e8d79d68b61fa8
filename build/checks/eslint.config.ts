import eslint from '@eslint/js'
import type { Linter } from 'eslint'
import reactHooks from 'eslint-plugin-react-hooks'
import { defineConfig } from 'eslint/config'
import { resolve } from 'node:path'
import tseslint from 'typescript-eslint'
import { wordRules } from './lint-words.ts'

const root = resolve(import.meta.dirname, '../..')
const tests = ['src-*/**/*.test.{ts,tsx}', 'src-*/**/*.suite.ts', 'build/**/*.test.ts', 'e2e/**/*.ts']

/** Only `packages` may be imported by bare name; relative paths are dependency-cruiser's business. */
function importAllowlist(files: string[], packages: readonly string[]): Linter.Config {
  const allowed = packages.map((name) => `${name}(/|$)`).join('|')
  return {
    files,
    ignores: tests,
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: `^(?!\\.{1,2}/${allowed === '' ? '' : `|${allowed}`})`, message: `Allowed here: ${packages.join(', ') || 'nothing from outside'}.` }] },
      ],
    },
  }
}

const noDefaultExport = { selector: 'ExportDefaultDeclaration', message: 'No default exports.' }
const noBarrel = { selector: 'ExportAllDeclaration', message: 'No barrels: import from where it is.' }
const pure = [
  { selector: ':function[async=true]', message: 'The core is pure: no Promise.' },
  { selector: "NewExpression[callee.name='Promise']", message: 'The core is pure: no Promise.' },
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'The core has no clock: time is handed in.' },
  { selector: "MemberExpression[object.name='Date'][property.name='now']", message: 'The core has no clock: time is handed in.' },
  { selector: "MemberExpression[object.name='Math'][property.name='random']", message: 'The core has no randomness: ids are handed in.' },
]

export default defineConfig(
  { ignores: ['**/node_modules', 'out', 'dist', 'resources', '**/*.mjs', '**/*.cjs'] },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [eslint.configs.recommended, tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: root } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: 'only-allowed-literals' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
      // `exactOptionalPropertyTypes` makes both forms mean different things; types over interfaces where a union is near.
      '@typescript-eslint/consistent-type-definitions': 'off',
      // Index signatures are read with ['name'] to show that the name is data.
      '@typescript-eslint/dot-notation': 'off',
      'no-restricted-syntax': ['error', noDefaultExport, noBarrel],
      // Spreading a string into code points is how text is measured here.
      '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
      eqeqeq: ['error', 'smart'],
    },
  },
  {
    files: ['src-*/**/*.{ts,tsx}'],
    ignores: tests,
    rules: {
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    },
  },
  { files: ['src-main/core/**/*.ts'], ignores: tests, rules: { 'no-restricted-syntax': ['error', noDefaultExport, noBarrel, ...pure] } },
  importAllowlist(['src-preload/contract/**/*.ts'], ['zod']),
  importAllowlist(['src-main/core/**/*.ts'], ['zod', 'canonicalize', '@noble/hashes']),
  importAllowlist(['src-main/engine/**/*.ts'], []),
  { files: ['src-renderer/**/*.{ts,tsx}'], extends: [reactHooks.configs.flat['recommended-latest']] },
  { files: ['src-main/shell/**/*.ts'], ignores: tests, plugins: { words: wordRules }, rules: { 'words/read-while-drawing': 'error' } },
  { files: ['src-renderer/**/*.{ts,tsx}'], ignores: [...tests, 'src-renderer/dev/**'], plugins: { words: wordRules }, rules: { 'words/no-literal-text': 'error', 'words/translates-said': 'error', 'words/read-while-drawing': 'error', 'words/memo-speaks': 'error' } },
  {
    files: tests,
    rules: {
      // Test names and bodies tell the type; a missing element is a failing test.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/unbound-method': 'off',
      // expect.any() and its like are typed any.
      '@typescript-eslint/no-unsafe-assignment': 'off',
    },
  },
  // Their readers want a default export.
  { files: ['electron.vite.config.ts', '**/*.config.ts', 'src-renderer/dev/stories/*.tsx', 'src-renderer/dev/storybook/preview.tsx'], rules: { 'no-restricted-syntax': 'off' } },
)
