import type { words as english } from '../en/shell.ts'
import type { Translation } from '../message.ts'

/** Every word that the owner sees outside the window, in German. */
export const words = {
  menu: {
    task: 'Aufgabe', runSample: 'Beispielaufgabe starten', newTask: 'Neue Aufgabe', palette: 'Befehlspalette', settings: 'Einstellungen', audit: 'Audit', quit: 'Beenden',
    edit: 'Bearbeiten', undo: 'Rückgängig', redo: 'Wiederholen', cut: 'Ausschneiden', copy: 'Kopieren', paste: 'Einfügen', delete: 'Löschen', selectAll: 'Alles auswählen',
    view: 'Ansicht', resetZoom: 'Originalgröße', zoomIn: 'Vergrößern', zoomOut: 'Verkleinern', fullScreen: 'Vollbild', window: 'Fenster', minimize: 'Minimieren', close: 'Schließen',
    about: 'Über Countersign', services: 'Dienste', hide: 'Countersign ausblenden', hideOthers: 'Andere ausblenden', showAll: 'Alle einblenden',
  },
  dialog: {
    pickFolder: 'Ordner wählen', stopAndQuit: 'Stoppen und beenden', keepWorking: 'Weiterarbeiten',
    running: '{n, plural, one {Eine Aufgabe läuft noch.} other {# Aufgaben laufen noch.}}',
    quitMeans: 'Das Beenden stoppt Bot B und prüft, dass nichts übrig ist. Beim nächsten Start erscheint die Aufgabe als ungewiss, mit ihren Auswegen; nichts wird doppelt gesendet.',
  },
  waiting: {
    none: 'Nichts wartet auf Sie', some: '{n, plural, one {# Freigabe steht aus} other {# Freigaben stehen aus}}', show: 'Countersign anzeigen', quit: 'Beenden', notification: 'Eine Freigabe steht aus.',
  },
} as const satisfies Translation<typeof english>
