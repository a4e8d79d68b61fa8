/** See verify-export.mjs. */
export function verifyExport(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, expectedHead?: string | null): Promise<
  { readonly ok: true; readonly events: number; readonly headHash: string } | { readonly ok: false; readonly line: number; readonly what: string }
>
