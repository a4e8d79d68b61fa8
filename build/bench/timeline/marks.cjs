// Put before an app's own first file by index.ts: prints when what happened in the main process, in milliseconds since the epoch.
const { app } = require('electron')

const now = () => performance.timeOrigin + performance.now()
const marks = { 'process created': process.getCreationTime(), 'app code begins': now() }
const mark = (name) => { marks[name] ??= now() }

app.on('will-finish-launching', () => { mark('will finish launching') })
app.on('ready', () => { mark('app ready') })
app.on('browser-window-created', (_event, window) => {
  mark('window created')
  window.once('ready-to-show', () => { mark('ready to show') })
  window.once('show', () => { mark('shown') })
})
app.on('web-contents-created', (_event, page) => {
  page.once('did-start-navigation', () => { mark('navigation begins') })
  page.once('did-navigate', () => { mark('page committed') })
  page.once('dom-ready', () => { mark('DOM ready') })
  page.once('did-finish-load', () => {
    mark('loaded')
    setTimeout(() => { console.log(`marks ${JSON.stringify(marks)}`) }, 500)
  })
})
