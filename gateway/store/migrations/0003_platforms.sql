-- What Telegram's albums and long pastes, Discord's private answers, groups and pairing need.

-- The message that this one was joined to: a further piece of a long paste or an album. Its words moved there.
ALTER TABLE messages ADD COLUMN part_of INTEGER;
ALTER TABLE messages ADD COLUMN album TEXT NOT NULL DEFAULT '';
-- The name under which somebody spoke in a group.
ALTER TABLE messages ADD COLUMN speaker TEXT NOT NULL DEFAULT '';
-- The only way on which a private command may be answered; erased once it is answered.
ALTER TABLE messages ADD COLUMN via TEXT NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN via TEXT NOT NULL DEFAULT '';

-- The Discord server that a chat is in: a whole server may be let in.
ALTER TABLE chats ADD COLUMN server TEXT NOT NULL DEFAULT '';

-- When a row was last put off: a clock that is put back behind this ends the wait.
ALTER TABLE outbox ADD COLUMN postponed_at TEXT NOT NULL DEFAULT '';

-- How often a chunk was sent without our learning whether it arrived.
ALTER TABLE chunks ADD COLUMN unsure INTEGER NOT NULL DEFAULT 0;

-- Where we were asked to wait, and until when: a platform (`telegram`) or one chat of it (`telegram:-100200`).
CREATE TABLE pauses (
    scope TEXT PRIMARY KEY,
    since TEXT NOT NULL,
    until TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Codes of people who are not let in yet. Only the account is kept, never words.
CREATE TABLE pairings (
    code       TEXT PRIMARY KEY,
    platform   TEXT NOT NULL,
    id         TEXT NOT NULL,
    chat       TEXT NOT NULL,
    -- What the platform told of the person's language: the first guess for the chat, once it is let in.
    language   TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    decided_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX pairings_by_account ON pairings (platform, id, created_at);
CREATE INDEX chats_by_move ON chats (platform, moved_to) WHERE moved_to IS NOT NULL;
CREATE INDEX chats_by_person ON chats (person) WHERE person <> '';
