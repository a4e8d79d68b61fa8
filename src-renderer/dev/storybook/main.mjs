// The design system, element by element, on the fixtures of the dev window and built by its Vite config, which stands one folder above. `npm run storybook`
// to look; `npm run stories` builds it and asks axe about each story. It reports to nobody and asks nobody for news.
export default {
  stories: ['../stories/*.stories.tsx'],
  addons: ['@storybook/addon-a11y'],
  framework: '@storybook/react-vite',
  core: { disableTelemetry: true, disableWhatsNewNotifications: true, disableProjectJson: true },
  typescript: { reactDocgen: false },
}
