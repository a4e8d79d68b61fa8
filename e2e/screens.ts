import type { App } from './app.ts'

/** Pictures of the window, light and dark, for people to look at. Both schemes are emulated; the owner's setting stays what it is. */
export async function screenshotBoth(app: App, name: string, folder = 'dist/screens'): Promise<void> {
  for (const scheme of ['light', 'dark'] as const) {
    await app.window.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    await app.window.screenshot({ path: `${folder}/${name}-${scheme}.png` })
  }
  await app.window.emulateMedia({ colorScheme: null, reducedMotion: null })
}
