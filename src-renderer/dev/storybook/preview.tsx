import type { Preview } from '@storybook/react-vite'
import '../../styles.ts'
import './preview.css'
import { setStage, Stage, type Scene, type StageParts } from './stage.tsx'

const choice = (title: string, values: readonly string[]) => ({ name: title, toolbar: { title, items: [...values], dynamicTitle: true } })

/** `parameters.scene` says on what rows and answers a story plays; the toolbar chooses theme, density and direction. */
const preview: Preview = {
  parameters: { layout: 'fullscreen', controls: { disable: true }, actions: { disable: true }, backgrounds: { disable: true }, a11y: { test: 'error' } },
  globalTypes: { theme: choice('Theme', ['system', 'light', 'dark']), density: choice('Density', ['comfortable', 'compact']), direction: choice('Direction', ['ltr', 'rtl']) },
  initialGlobals: { theme: 'system', density: 'comfortable', direction: 'ltr' },
  loaders: [({ parameters, globals }) => ({ stage: setStage((parameters['scene'] ?? {}) as Scene, String(globals['theme']), globals['direction'] === 'rtl' ? 'rtl' : 'ltr') })],
  decorators: [
    (Story, { loaded, globals }) => {
      const root = document.documentElement
      if (globals['theme'] === 'system') delete root.dataset['theme']
      else root.dataset['theme'] = String(globals['theme'])
      root.dataset['density'] = String(globals['density'])
      return (
        <Stage parts={loaded['stage'] as StageParts}>
          <Story />
        </Stage>
      )
    },
  ],
}

export default preview
