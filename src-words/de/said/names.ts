import type { SaidPair } from '../../said.ts'

/** Names of states, outcomes and choices that sentences name. Each is a code that the main process or the contract has. */
export const names: readonly SaidPair[] = [
  ['none', 'keine'], ['no', 'nein'], ['unknown', 'unbekannt'], ['passed', 'bestanden'],
  // A task's status
  ['open', 'offen'], ['claimed', 'übernommen'], ['working', 'in Arbeit'], ['blocked', 'blockiert'], ['result-ready', 'Ergebnis bereit'], ['accepted', 'angenommen'], ['cancelled', 'abgebrochen'], ['failed', 'fehlgeschlagen'],
  // How a turn or an approval ends
  ['completed', 'abgeschlossen'], ['aborted', 'abgebrochen'], ['interrupted', 'unterbrochen'], ['suspended', 'unterbrochen für eine Frage'],
  ['approved', 'freigegeben'], ['denied', 'verweigert'], ['granted', 'erlaubt'], ['expired', 'abgelaufen'], ['withdrawn', 'zurückgezogen'], ['never-shown', 'nie angezeigt'], ['stopped', 'gestoppt'], ['done', 'fertig'], ['uncertain', 'ungewiss'],
  // Exits from what is uncertain
  ['Re-check', 'Erneut prüfen'], ['Mark done', 'Als geschehen markieren'], ['Mark not done', 'Als nicht geschehen markieren'], ['Resend', 'Erneut senden'],
  // Who and what
  ['lead', 'Bot A'], ['coder', 'Bot B'], ['owner', 'Sie'], ['policy', 'Regel'], ['provider', 'Anbieter'], ['command', 'Befehl'], ['edit', 'Änderung'], ['budget', 'Budget'], ['acceptance', 'Annahme'], ['continue', 'Fortsetzung'], ['correction', 'Korrektur'], ['brief', 'Auftrag'], ['answer', 'Antwort'], ['review', 'Review'], ['request', 'Anfrage'], ['question', 'Frage'], ['result', 'Ergebnis'], ['progress', 'Fortschritt'],
  // What became of a file
  ['added', 'hinzugefügt'], ['modified', 'geändert'], ['deleted', 'gelöscht'],
  // What is counted
  ['turns', 'Runden'], ['messages', 'Nachrichten'], ['model requests', 'Modellanfragen'], ['tokens', 'Tokens'], ['money', 'Geld'], ['minute', 'Minute'], ['minutes', 'Minuten'], ['processes', 'Prozesse'],
  // How a call was served
  ['direct', 'direkt'], ['exec', 'einmalig'],
]
