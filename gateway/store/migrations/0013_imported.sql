-- Conversations that were brought from another bot, each once: also when it was deleted here since. What it is called
-- there is kept as a SHA-256, since anything may stand in it.
CREATE TABLE imported_sessions (
    space   INTEGER NOT NULL REFERENCES spaces (id),
    mark    TEXT NOT NULL,
    session TEXT NOT NULL,
    -- Up to which of its messages: more may be said there later, or an import was stopped in the middle.
    last    INTEGER NOT NULL,
    at      TEXT NOT NULL,
    PRIMARY KEY (space, mark)
) STRICT, WITHOUT ROWID;
