// The core is compiled without Node's or the DOM's types on purpose. This one is part of every runtime it meets (encoding.spec.whatwg.org).
declare class TextDecoder {
  constructor(label: 'utf-8', options: { readonly fatal: true; readonly ignoreBOM: true })
  decode(input: Uint8Array): string
}
