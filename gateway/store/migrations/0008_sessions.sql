-- Taking a turn back, titles, deleting conversations.

-- 1 once its words were taken away for good. Only what its platform calls it stays, so that it is kept once: handed
-- over again, or found in a gap that is read again, it must not be answered a second time.
ALTER TABLE messages ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;

-- Whose title it is ('' for none, 'model', 'person'), and up to which turn the model had read when it was asked for one
-- (0: it was not).
ALTER TABLE sessions ADD COLUMN title_by TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN title_turn INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET title_by = 'person' WHERE title <> '';

-- What rests on something that was said.
CREATE INDEX writes_by_evidence ON writes (evidence) WHERE evidence IS NOT NULL;
CREATE INDEX writes_by_session ON writes (session, id) WHERE session <> '';

-- The lists that `/resume 2` counts in.
CREATE INDEX outbox_session_lists ON outbox (platform, chat, thread, id) WHERE kind = 'session_list';
