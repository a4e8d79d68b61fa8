/** Every word that the owner sees outside the window, in English, as ICU messages: menus, dialogs, the tray, notifications. */
export const words = {
  menu: {
    task: 'Task', runSample: 'Run the sample task', newTask: 'New task', palette: 'Command palette', settings: 'Settings', audit: 'Audit', quit: 'Quit',
    edit: 'Edit', undo: 'Undo', redo: 'Redo', cut: 'Cut', copy: 'Copy', paste: 'Paste', delete: 'Delete', selectAll: 'Select all',
    view: 'View', resetZoom: 'Actual size', zoomIn: 'Zoom in', zoomOut: 'Zoom out', fullScreen: 'Full screen', window: 'Window', minimize: 'Minimize', close: 'Close',
    about: 'About Countersign', services: 'Services', hide: 'Hide Countersign', hideOthers: 'Hide others', showAll: 'Show all',
  },
  dialog: {
    pickFolder: 'Choose a folder', stopAndQuit: 'Stop and quit', keepWorking: 'Keep working',
    running: '{n, plural, one {A task is still running.} other {# tasks are still running.}}',
    quitMeans: 'Quitting stops Bot B and checks that nothing is left. The next start shows the task as uncertain, with its exits; nothing is sent twice.',
  },
  waiting: {
    none: 'Nothing waits for you', some: '{n, plural, one {# approval waits} other {# approvals wait}}', show: 'Show Countersign', quit: 'Quit', notification: 'An approval waits.',
  },
} as const
