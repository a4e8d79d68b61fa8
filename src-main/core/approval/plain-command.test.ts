import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { explainCommand, plainCommand } from './plain-command.ts'

const read = (text: string): readonly (readonly string[])[] | string => {
  const result = plainCommand(text)
  return result.ok ? result.value.parts : result.error
}

describe('plainCommand', () => {
  it.each<[string, readonly (readonly string[])[]]>([
    ['bun test', [['bun', 'test']]],
    ['  npm   run lint ', [['npm', 'run', 'lint']]],
    ['cd src && make -j4 all; ls | wc -l', [['cd', 'src'], ['make', '-j4', 'all'], ['ls'], ['wc', '-l']]],
    ['npm test 2>&1 | tail -5', [['npm', 'test', '2>&1'], ['tail', '-5']]],
    ['echo "two words" \'$HOME\'', [['echo', 'two words', '$HOME']]],
    ['a"b"\'c\'d', [['abcd']]],
    ['test -f x || true', [['test', '-f', 'x'], ['true']]],
    ['sh build.sh -j4', [['sh', 'build.sh', '-j4']]],
    ['node --max-old-space-size=512 a.js', [['node', '--max-old-space-size=512', 'a.js']]],
  ])('reads %s', (text, parts) => {
    expect(read(text)).toEqual(parts)
  })

  it.each([
    ['', 'empty'], ['   ', 'empty'], ['ls &&', 'nothing stands after'], ['; ls', 'nothing stands before'], ['ls || || x', 'nothing stands before'],
    ['rm $FILES', '"$"'], ['echo "$(id)"', '"$"'], ['echo `id`', '"`"'], ['echo "a\\"b"', '"\\"'], ['rm *', '"*"'], ['ls ?', '"?"'], ['ls [a]', '"["'], ['echo {a,b}', '"{"'], ['ls ~', '"~"'],
    ['ls > out', '">"'], ['ls >> out', '">"'], ['cat < in', '"<"'], ['cat <<EOF', '"<"'], ['sleep 9 &', '"&"'], ['ls |& cat', '"|"'], ['(ls)', '"("'], ['ls # all', '"#"'], ['a\\ b', '"\\"'], ['ls 2>&1x', '">"'], ['ls 2>&1&', '"&"'],
    ['FOO=1 make', 'sets a variable'], ['if true', 'construct'], ['for f in a', 'construct'], ['! true', '"!"'], ['time ls', 'construct'], ['ls; while true', 'construct'],
    ['eval \'rm $FILES\'', 'once more'], ['cd a && eval "ls"', 'once more'], ['sh -c \'rm $FILES\'', 'a shell that reads'], ['/bin/bash -ec \'ls *\'', 'a shell that reads'], ['env X=1 sh -c \'echo $X\'', 'a shell that reads'], ['\'ev\'al x', 'once more'], ['trap \'rm $X\' EXIT', 'once more'], ['alias ls=\'rm $X\'; ls', 'once more'], ['export PATH=x; make', 'once more'],
    ['ls\nrm x', 'U+000A'], ['ls\trm', 'U+0009'], ['ls\u0000', 'U+0000'], ['l\u200bs', 'U+200B'], ['rm а', 'U+0430'], ['\u001b[2K ls', 'U+001B'], ['ls \u202e', 'U+202E'], ['echo 😀', 'U+1F600'], ['echo "open', 'not closed'], ["echo 'open", 'not closed'],
  ])('refuses %j, and says why', (text, why) => {
    expect(read(text)).toContain(why)
  })

  // POSIX.1-2017, 2.4 (reserved words), and those of bash.
  it.each(['if', 'then', 'else', 'elif', 'fi', 'do', 'done', 'case', 'esac', 'while', 'until', 'for', 'in', 'function', 'select', 'time', 'coproc'])('refuses the reserved word %s where a command begins, quoted or not, and takes it elsewhere', (word) => {
    for (const text of [word, `${word} x`, `ls; ${word}`, `'${word}' x`]) expect(read(text), text).toBe(`"${word}" begins a construct of the shell`)
    expect(read(`echo ${word}`)).toEqual([['echo', word]])
  })

  it.each(['!', '[[', ']]', '{', '}'])('refuses the reserved sign %s where a command begins, also where quotes make it a word', (word) => {
    expect(read(`'${word}' x`)).toBe(`"${word}" begins a construct of the shell`)
  })

  it.each(['eval', 'trap', 'alias', 'unalias', 'export', 'readonly', 'declare', 'typeset', 'local', 'read', 'set', 'unset', 'shopt'])('refuses %s, after which words may mean something else, as the first word of any command', (word) => {
    for (const text of [`${word} x`, `ls | ${word} x`]) expect(read(text), text).toBe(`"${word}" lets the shell read its words once more, or sets what others mean`)
    expect(read(`echo ${word}`)).toEqual([['echo', word]])
  })

  it.each(['sh', 'bash', 'dash', 'ash', 'ksh', 'mksh', 'zsh', 'busybox', 'fish'])('refuses %s with a word of commands, by whatever path and behind whatever starts it', (shell) => {
    for (const [text, named, option] of [[`${shell} -c 'ls'`, shell, '-c'], [`/usr/bin/${shell} -xc 'ls'`, `/usr/bin/${shell}`, '-xc'], [`timeout 5 ${shell} -e -c ls`, shell, '-c'], [`ls; ${shell} -c ls`, shell, '-c']] as const) expect(read(text), text).toBe(`"${named} ${option}" is a shell that reads a word as commands of its own`)
    for (const text of [`${shell} build.sh`, `${shell} --count`, `x${shell} -c ls`, `ls -c ${shell}`]) expect(typeof read(text), text).not.toBe('string')
  })

  it('joins commands by what stands between them, in its order', () => {
    const command = plainCommand('a && b || c; d | e')
    expect(command.ok && command.value).toEqual({ parts: [['a'], ['b'], ['c'], ['d'], ['e']], joins: ['&&', '||', ';', '|'] })
    expect(read('a&&b')).toEqual([['a'], ['b']])
  })

  it('takes the errors to the output only after a command, and not as a part of a word', () => {
    expect(read('2>&1')).toContain('">"')
    expect(read('make 2>&1')).toEqual([['make', '2>&1']])
    expect(read('ls 2>&1;ls 2>&1|wc')).toEqual([['ls', '2>&1'], ['ls', '2>&1'], ['wc']])
    expect(read('ls x2>&1')).toContain('">"')
  })

  it('reads no text in which anything but quotes can change what it means', () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...Array.from('ab $`\\"\'*?[]{}()<>&|;#~!=\n\t')), maxLength: 24 }), (text) => {
      const result = plainCommand(text)
      if (!result.ok) return
      const unquoted = text.replace(/'[^']*'|"[^"$`\\!]*"/g, '').replaceAll('2>&1', '')
      expect(unquoted).not.toMatch(/[$`\\*?[\]{}()<>#~!\n\t"']|(?<!&)&(?!&)/)
      expect(result.value.parts.every((part) => part.length > 0 && !part[0]?.includes('='))).toBe(true)
    }), { numRuns: 5_000 })
  })

  it('gives back the words that were quoted, whatever they hold', () => {
    fc.assert(fc.property(fc.array(fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)), minLength: 1, maxLength: 12 }).filter((word) => !word.includes("'")), { minLength: 1, maxLength: 5 }), (words) => {
      expect(read(`run ${words.map((word) => `'${word}'`).join(' ')}`)).toEqual([['run', ...words]])
    }))
  })

  it('says in one sentence what it read', () => {
    const command = plainCommand('cd src && make all')
    expect(command.ok && explainCommand(command.value)).toBe('2 commands (cd, make), 4 literal words: no variables, patterns, substitutions or redirections to files')
    const one = plainCommand('ls')
    expect(one.ok && explainCommand(one.value)).toBe('1 command (ls), 1 literal word: no variables, patterns, substitutions or redirections to files')
    const same = plainCommand('ls a; ls b')
    expect(same.ok && explainCommand(same.value)).toContain('2 commands (ls), 4 literal words')
  })
})
