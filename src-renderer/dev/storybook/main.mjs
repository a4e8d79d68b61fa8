// The design system, element by element, on the fixtures of the dev window and built by its Vite config, which stands one folder above. `npm run storybook`
// to look; `npm run stories` builds it and asks axe about each story. It reports to nobody and asks nobody for news.

/** Named beforehand: what the server finds only while a story is looked at loads the page anew, again and again. */
const imported = [
  '@lingui/core', '@pierre/diffs', '@pierre/diffs/react', '@pierre/diffs/worker', '@tanstack/react-query', '@tanstack/react-virtual', 'axe-core', 'diff', 'lucide-react', 'react-aria-components', 'react-dom/client', 'react-markdown',
  'rehype-sanitize', 'remark-gfm', 'shiki/core', 'shiki/engine/javascript', 'zod',
]

export default {
  stories: ['../stories/*.stories.tsx'],
  addons: ['@storybook/addon-a11y'],
  framework: '@storybook/react-vite',
  core: { disableTelemetry: true, disableWhatsNewNotifications: true, disableProjectJson: true },
  typescript: { reactDocgen: false },
  viteFinal: (config) => ({ ...config, optimizeDeps: { ...config.optimizeDeps, include: [...(config.optimizeDeps?.include ?? []), ...imported] } }),
}
