-- The owner's no, so that `/pair` can list it with the way back: to somebody who asked, to somebody who was let in.
ALTER TABLE pairings ADD COLUMN ignored_at TEXT;
ALTER TABLE people ADD COLUMN revoked_at TEXT;
