/** Of the runtime, in Node and browsers alike: the engine's library has neither. */
declare class TextEncoder {
  encode(text: string): Uint8Array
}
