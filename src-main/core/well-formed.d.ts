// ES2024, part of every runtime that the core meets (Node 20, Chromium 111); the language level of the core's types is ES2023.
interface String {
  isWellFormed(): boolean
  toWellFormed(): string
}
