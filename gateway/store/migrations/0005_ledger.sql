-- What taking a write back needs, and what the ledger tells besides writes.

-- Where the entries stood that a write took away: numbers, one for each of `before`.
ALTER TABLE writes ADD COLUMN places TEXT NOT NULL DEFAULT '[]';
-- The file as it is and as it will be when a write is taken back, as before_hash and after_hash for an approval.
ALTER TABLE writes ADD COLUMN undo_before_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE writes ADD COLUMN undo_after_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE writes ADD COLUMN undone_in INTEGER;
-- What was begun and is not done; the condition stands in `store.undoing` to the letter.
CREATE INDEX writes_undo_due ON writes (space, id) WHERE reason = 'undo.due';

CREATE INDEX writes_by_undo ON writes (undone_in) WHERE undone_in IS NOT NULL;

-- Every change of a choice, also those that a later one has replaced.
CREATE TABLE choice_changes (
    id    INTEGER PRIMARY KEY,
    space INTEGER NOT NULL REFERENCES spaces (id),
    key   TEXT NOT NULL,
    value TEXT NOT NULL,
    by    TEXT NOT NULL,
    at    TEXT NOT NULL
) STRICT;
CREATE INDEX choice_changes_by_time ON choice_changes (at);

-- The notices that told of a write: they say, too, that it was taken back.
CREATE INDEX outbox_notices_by_message ON outbox (message) WHERE kind = 'notice';
CREATE INDEX outbox_notices_by_review ON outbox (session, review_turn) WHERE kind = 'notice';

-- Questions for the new text of a write: looked up for every message that answers another.
CREATE INDEX outbox_questions ON outbox (platform, chat, id) WHERE kind = 'ask_edit';
