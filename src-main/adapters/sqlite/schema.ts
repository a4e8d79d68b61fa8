import type Database from 'better-sqlite3'

/** Marks the file as ours (`PRAGMA application_id`): "CSGN". */
export const applicationId = 0x4353474e

/** `up` runs inside the transaction that also raises `user_version`. */
export interface Migration { readonly version: number; readonly up: (db: Database.Database) => void }

// J0. A command's receipt is written with its last event, by the file itself (a command without events: by the writer). An event that closes a
// command which has its receipt already is refused: no command is recorded twice, and a commit of one event is one statement.
// J1. Events and receipts are only ever added: triggers abort UPDATE and DELETE, whoever asks (and with them the app's own REPLACE, since it opens
// with recursive_triggers).
// J2. Of a stream each version exists once; that numbers have no gap and each event names its predecessor is the writer's, and verifyChain's to see.
// J3. Of an effect only state, attempts and times move, and the state only forward.
const first = `
CREATE TABLE commands (
  id TEXT NOT NULL PRIMARY KEY, stream TEXT NOT NULL, actor TEXT NOT NULL, at INTEGER NOT NULL,
  lastSeq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE events (
  seq INTEGER NOT NULL PRIMARY KEY, stream TEXT NOT NULL, version INTEGER NOT NULL, at INTEGER NOT NULL,
  commandId TEXT NOT NULL, actor TEXT NOT NULL, type TEXT NOT NULL,
  payload TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL, closes INTEGER NOT NULL CHECK (closes IN (0, 1)),
  UNIQUE (stream, version)
) STRICT;
CREATE TABLE effects (
  id TEXT NOT NULL PRIMARY KEY, ord INTEGER NOT NULL, stream TEXT NOT NULL, kind TEXT NOT NULL, payload TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'started', 'done', 'retired')), attempts INTEGER NOT NULL,
  commandId TEXT NOT NULL, startedAt INTEGER, endedAt INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX openEffects ON effects (ord) WHERE state IN ('pending', 'started');

CREATE TRIGGER eventsReceipt AFTER INSERT ON events WHEN NEW.closes = 1
BEGIN INSERT INTO commands (id, stream, actor, at, lastSeq) VALUES (NEW.commandId, NEW.stream, NEW.actor, NEW.at, NEW.seq); END;
CREATE TRIGGER eventsKeep BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER eventsStay BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
CREATE TRIGGER commandsKeep BEFORE UPDATE ON commands BEGIN SELECT RAISE(ABORT, 'receipts are never changed'); END;
CREATE TRIGGER commandsStay BEFORE DELETE ON commands BEGIN SELECT RAISE(ABORT, 'receipts are never deleted'); END;
CREATE TRIGGER effectsKeep BEFORE UPDATE ON effects
WHEN NEW.ord IS NOT OLD.ord OR NEW.id IS NOT OLD.id OR NEW.stream IS NOT OLD.stream OR NEW.kind IS NOT OLD.kind
  OR NEW.payload IS NOT OLD.payload OR NEW.commandId IS NOT OLD.commandId
  OR NOT (OLD.state IN ('pending', 'started') AND NEW.state IN ('done', 'retired') OR OLD.state = 'pending' AND NEW.state = 'started')
BEGIN SELECT RAISE(ABORT, 'of an effect only the state moves, and only forward'); END;
CREATE TRIGGER effectsStay BEFORE DELETE ON effects BEGIN SELECT RAISE(ABORT, 'effects are never deleted'); END;
`

// J5. A receipt keeps the digest of what its command said. One that an older app wrote has none.
const contentDigests = `
ALTER TABLE commands ADD COLUMN contentDigest BLOB CHECK (length(contentDigest) = 32);
ALTER TABLE events ADD COLUMN contentDigest BLOB CHECK (length(contentDigest) = 32);
DROP TRIGGER eventsReceipt;
CREATE TRIGGER eventsReceipt AFTER INSERT ON events WHEN NEW.closes = 1
BEGIN INSERT INTO commands (id, stream, actor, at, lastSeq, contentDigest) VALUES (NEW.commandId, NEW.stream, NEW.actor, NEW.at, NEW.seq, NEW.contentDigest); END;
`

/** All migrations, ascending from 1. A released one is never edited; a change is a new one. */
export const migrations: readonly Migration[] = [
  { version: 1, up: (db) => { db.exec(first) } },
  { version: 2, up: (db) => { db.exec(contentDigests) } },
]
