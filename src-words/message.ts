/** A catalogue as it is written: ICU messages by name, in groups. */
export interface MessageTree { readonly [name: string]: string | MessageTree }

/** The same names in another language. */
export type Translation<T> = { readonly [K in keyof T]: T[K] extends string ? string : Translation<T[K]> }

/**
 * The values that an ICU message names, `unknown` where there are none. A plain `{name}` takes text, so that numbers, times and sizes are put
 * into their local form before; `{name, number}` and `{name, plural, …}` take a number. Within a plural only `#` stands for something, and
 * what stands within `'{…}'` is text (catalogue.test.ts holds every message to it).
 */
export type ValuesOf<S extends string> = S extends `${infer Before}'{${string}}'${infer After}` ? FirstOf<Before> & ValuesOf<After> : FirstOf<S>

type FirstOf<S extends string> = S extends `${string}{${infer Rest}` ? Argument<Rest> : unknown

type Argument<Rest extends string> = Rest extends `${infer Inside}}${infer After}`
  ? Inside extends `${infer Name}, number` ? Readonly<Record<Name, number>> & FirstOf<After>
    : Inside extends `${infer Name}, plural, ${string}` ? Readonly<Record<Name, number>> & AfterCases<Rest>
      : Readonly<Record<Inside, string>> & FirstOf<After>
  : never

type AfterCases<Rest extends string> = Rest extends `${string}}}${infer After}` ? FirstOf<After> : never

/** A message as code reads it: text, or a function of its values. */
export type Word<S extends string> = unknown extends ValuesOf<S> ? string : (values: ValuesOf<S>) => string

/** A catalogue as code reads it. */
export type Words<T> = { readonly [K in keyof T]: T[K] extends string ? Word<T[K]> : Words<T[K]> }
