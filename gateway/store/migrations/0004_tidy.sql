-- Files that are to be made smaller: one row is "look at this file once". Without words; what came of it is a write.
CREATE TABLE tidies (
    id          TEXT PRIMARY KEY,
    space       INTEGER NOT NULL REFERENCES spaces (id),
    target      TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('due', 'running', 'done', 'failed')),
    cause       TEXT NOT NULL CHECK (cause IN ('asked', 'full')),
    -- Where people hear of it; '' where there is nobody to tell.
    platform    TEXT NOT NULL DEFAULT '',
    chat        TEXT NOT NULL DEFAULT '',
    thread      TEXT NOT NULL DEFAULT '',
    -- The SHA-256 of the file: when it was made due, then as the tidy left it.
    content     TEXT NOT NULL,
    attempts    INTEGER NOT NULL DEFAULT 0,
    claim       TEXT NOT NULL DEFAULT '',
    lease_until TEXT,
    retry_at    TEXT,
    reason      TEXT NOT NULL DEFAULT '',
    created_at  TEXT NOT NULL,
    ended_at    TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX tidies_one_live ON tidies (space, target) WHERE status IN ('due', 'running');
CREATE INDEX tidies_by_status ON tidies (status, created_at);
CREATE INDEX tidies_by_file ON tidies (space, target, created_at);
