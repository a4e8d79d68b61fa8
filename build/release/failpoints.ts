import type { Plugin } from 'vite'

const calls = /^[ \t]*(?:await )?failpoint\([^\n]*\)[ \t]*$/gm
const rest = /\bfailpoint\(/
const definition = /\bexport function failpoint\(/

/** Leaves every call of `failpoint` out of what ships. A call that is not a statement on a line of its own stops the build. */
export function withoutFailpoints(): Plugin {
  return {
    name: 'without-failpoints',
    enforce: 'pre',
    transform(code, id) {
      if (!/\/src-main\/.*\.ts$/.test(id) || !rest.test(code)) return null
      const left = code.replace(calls, '')
      if (rest.test(left.replace(definition, ''))) this.error(`a failpoint is not a statement on a line of its own: ${id}`)
      return { code: left, map: null }
    },
  }
}
