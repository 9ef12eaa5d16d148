-- Times are ISO 8601 text in UTC. Which forget layer claims which text column: store/columns.py.

CREATE TABLE spaces (
    id            INTEGER PRIMARY KEY,
    name          TEXT NOT NULL UNIQUE,
    kind          TEXT NOT NULL CHECK (kind IN ('owner', 'person', 'group')),
    whose         TEXT NOT NULL DEFAULT '',
    last_sequence INTEGER NOT NULL DEFAULT 0,
    created_at    TEXT NOT NULL,
    closed_at     TEXT
) STRICT;

CREATE TABLE people (
    platform    TEXT NOT NULL,
    id          TEXT NOT NULL,
    role        TEXT NOT NULL CHECK (role IN ('owner', 'allowed', 'stranger')),
    space       INTEGER REFERENCES spaces (id),
    since       TEXT NOT NULL,
    greeted_at  TEXT,
    wrong_codes INTEGER NOT NULL DEFAULT 0,
    wrong_since TEXT,
    PRIMARY KEY (platform, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE chats (
    platform   TEXT NOT NULL,
    id         TEXT NOT NULL,
    space      INTEGER REFERENCES spaces (id),
    private    INTEGER NOT NULL,
    person     TEXT NOT NULL DEFAULT '',
    language   TEXT NOT NULL DEFAULT '',
    home       INTEGER NOT NULL DEFAULT 0,
    last_at    TEXT,
    refused_at TEXT,
    moved_to   TEXT,
    PRIMARY KEY (platform, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    id            TEXT PRIMARY KEY,
    space         INTEGER NOT NULL REFERENCES spaces (id),
    platform      TEXT NOT NULL,
    chat          TEXT NOT NULL,
    thread        TEXT NOT NULL DEFAULT '',
    member        TEXT NOT NULL DEFAULT '',
    opened_at     TEXT NOT NULL,
    ended_at      TEXT,
    end_reason    TEXT,
    system_prompt TEXT NOT NULL,
    tools         TEXT NOT NULL,
    generation    INTEGER NOT NULL DEFAULT 1,
    frozen_at     TEXT NOT NULL,
    turns         INTEGER NOT NULL DEFAULT 0,
    last_due_turn INTEGER NOT NULL DEFAULT 0,
    last_at       TEXT NOT NULL,
    title         TEXT NOT NULL DEFAULT '',
    model         TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX sessions_one_open ON sessions (platform, chat, thread, member) WHERE ended_at IS NULL;
CREATE INDEX sessions_by_space ON sessions (space, last_at);
CREATE INDEX sessions_unreviewed ON sessions (last_at) WHERE last_due_turn < turns;

-- Prompts that a refresh or a compression retired, kept until the reviews of their turns have ended.
CREATE TABLE former_prompts (
    session       TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    generation    INTEGER NOT NULL,
    system_prompt TEXT NOT NULL,
    tools         TEXT NOT NULL,
    PRIMARY KEY (session, generation)
) STRICT, WITHOUT ROWID;

-- id = space << 32 | sequence, so that a space is a range of ids.
CREATE TABLE messages (
    id           INTEGER PRIMARY KEY,
    platform     TEXT NOT NULL,
    chat         TEXT NOT NULL,
    thread       TEXT NOT NULL DEFAULT '',
    person       TEXT NOT NULL DEFAULT '',
    role         TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'command', 'tap')),
    text         TEXT NOT NULL,
    pieces       TEXT NOT NULL DEFAULT '[]',
    stamp        TEXT NOT NULL DEFAULT '',
    sent         TEXT,
    at           TEXT NOT NULL,
    session      TEXT REFERENCES sessions (id) ON DELETE CASCADE,
    turn         INTEGER NOT NULL DEFAULT 0,
    round        INTEGER NOT NULL DEFAULT 0,
    generation   INTEGER NOT NULL DEFAULT 0,
    tool_calls   TEXT NOT NULL DEFAULT '[]',
    tool_call_id TEXT NOT NULL DEFAULT '',
    tool_name    TEXT NOT NULL DEFAULT '',
    platform_id  TEXT,
    answers      INTEGER UNIQUE REFERENCES messages (id),
    done         TEXT CHECK (done IN ('answered', 'stopped', 'failed')),
    done_at      TEXT
) STRICT;
CREATE UNIQUE INDEX messages_once ON messages (platform, chat, platform_id) WHERE platform_id IS NOT NULL;
CREATE INDEX messages_by_session ON messages (session, turn, id) WHERE session IS NOT NULL;
CREATE INDEX messages_waiting ON messages (platform, chat, thread, id)
    WHERE done IS NULL AND role IN ('user', 'command', 'tap');
CREATE INDEX messages_by_person ON messages (person, at) WHERE role = 'user';

CREATE VIRTUAL TABLE message_words USING fts5 (text, content = '', columnsize = 0, tokenize = 'trigram');

CREATE TABLE writes (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    dedupe         TEXT NOT NULL UNIQUE,
    space          INTEGER NOT NULL REFERENCES spaces (id),
    kind           TEXT NOT NULL CHECK (kind IN ('memory', 'skill')),
    target         TEXT NOT NULL,
    operations     TEXT NOT NULL,
    original       TEXT,
    origin         TEXT NOT NULL,
    evidence       INTEGER,
    evidence_by    TEXT NOT NULL DEFAULT '',
    quote          TEXT NOT NULL DEFAULT '',
    flags          TEXT NOT NULL DEFAULT '[]',
    status         TEXT NOT NULL CHECK (status IN ('staged', 'approved', 'applied', 'refused', 'rejected',
                                                   'expired', 'failed', 'undone')),
    reason         TEXT NOT NULL DEFAULT '',
    reason_values  TEXT NOT NULL DEFAULT '{}',
    message        INTEGER,
    session        TEXT NOT NULL DEFAULT '',
    review_turn    INTEGER,
    base_hash      TEXT NOT NULL DEFAULT '',
    before_hash    TEXT NOT NULL DEFAULT '',
    after_hash     TEXT NOT NULL DEFAULT '',
    before         TEXT NOT NULL DEFAULT '',
    after          TEXT NOT NULL DEFAULT '',
    created_at     TEXT NOT NULL,
    expires_at     TEXT,
    decided_by     TEXT NOT NULL DEFAULT '',
    decided_at     TEXT,
    decided_in     INTEGER,
    applied_at     TEXT,
    undone_by      TEXT NOT NULL DEFAULT '',
    undone_at      TEXT,
    edited_by      TEXT NOT NULL DEFAULT '',
    edited_at      TEXT,
    redrawn        INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX writes_open ON writes (status, space, id) WHERE status IN ('staged', 'approved');
CREATE INDEX writes_by_message ON writes (message) WHERE message IS NOT NULL;
CREATE INDEX writes_by_review ON writes (session, review_turn) WHERE review_turn IS NOT NULL;
CREATE INDEX writes_by_space ON writes (space, id);

-- What we last read or wrote of a memory file: how a hand edit is noticed and undone.
CREATE TABLE known_files (
    space  INTEGER NOT NULL REFERENCES spaces (id),
    target TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    text   TEXT NOT NULL,
    at     TEXT NOT NULL,
    PRIMARY KEY (space, target)
) STRICT, WITHOUT ROWID;

CREATE TABLE reviews (
    session     TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn        INTEGER NOT NULL,
    first_turn  INTEGER NOT NULL,
    space       INTEGER NOT NULL REFERENCES spaces (id),
    status      TEXT NOT NULL CHECK (status IN ('due', 'running', 'done', 'failed')),
    cause       TEXT NOT NULL,
    attempts    INTEGER NOT NULL DEFAULT 0,
    claim       TEXT NOT NULL DEFAULT '',
    lease_until TEXT,
    retry_at    TEXT,
    reason      TEXT NOT NULL DEFAULT '',
    created_at  TEXT NOT NULL,
    ended_at    TEXT,
    PRIMARY KEY (session, turn)
) STRICT, WITHOUT ROWID;
CREATE INDEX reviews_open ON reviews (status, created_at) WHERE status IN ('due', 'running', 'failed');

CREATE TABLE outbox (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    dedupe       TEXT NOT NULL UNIQUE,
    kind         TEXT NOT NULL,
    platform     TEXT NOT NULL,
    chat         TEXT NOT NULL,
    thread       TEXT NOT NULL DEFAULT '',
    space        INTEGER NOT NULL REFERENCES spaces (id),
    token        TEXT NOT NULL,
    message      INTEGER,
    write        INTEGER,
    session      TEXT,
    review_turn  INTEGER,
    edits        INTEGER REFERENCES outbox (id),
    "values"     TEXT NOT NULL DEFAULT '{}',
    reply_to     TEXT NOT NULL DEFAULT '',
    status       TEXT NOT NULL DEFAULT 'waiting'
                 CHECK (status IN ('waiting', 'delivered', 'dropped', 'gone')),
    attempts     INTEGER NOT NULL DEFAULT 0,
    due_at       TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    delivered_at TEXT
) STRICT;
CREATE INDEX outbox_waiting ON outbox (platform, chat, thread, id) WHERE status = 'waiting';
CREATE INDEX outbox_by_write ON outbox (write) WHERE write IS NOT NULL;

CREATE TABLE chunks (
    outgoing     INTEGER NOT NULL REFERENCES outbox (id) ON DELETE CASCADE,
    position     INTEGER NOT NULL,
    text         TEXT NOT NULL,
    platform_id  TEXT NOT NULL DEFAULT '',
    delivered_at TEXT,
    PRIMARY KEY (outgoing, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE choices (
    space INTEGER NOT NULL REFERENCES spaces (id),
    key   TEXT NOT NULL,
    value TEXT NOT NULL,
    by    TEXT NOT NULL,
    at    TEXT NOT NULL,
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage (
    id      INTEGER PRIMARY KEY,
    at      TEXT NOT NULL,
    task    TEXT NOT NULL,
    session TEXT NOT NULL DEFAULT '',
    space   INTEGER,
    model   TEXT NOT NULL,
    job     TEXT NOT NULL DEFAULT '',
    input   INTEGER NOT NULL,
    output  INTEGER NOT NULL,
    cached  INTEGER NOT NULL
) STRICT;
CREATE INDEX usage_by_time ON usage (at);

CREATE TABLE forgets (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    space        INTEGER NOT NULL REFERENCES spaces (id),
    by           TEXT NOT NULL,
    passage      TEXT NOT NULL DEFAULT '',
    status       TEXT NOT NULL,
    requested_at TEXT NOT NULL,
    done_at      TEXT
) STRICT;

CREATE TABLE forget_steps (
    forget  INTEGER NOT NULL REFERENCES forgets (id) ON DELETE CASCADE,
    layer   TEXT NOT NULL,
    found   INTEGER NOT NULL DEFAULT 0,
    erased  INTEGER,
    done_at TEXT,
    PRIMARY KEY (forget, layer)
) STRICT, WITHOUT ROWID;

CREATE TABLE tombstones (
    id     INTEGER PRIMARY KEY,
    space  INTEGER NOT NULL REFERENCES spaces (id),
    forget INTEGER NOT NULL REFERENCES forgets (id) ON DELETE CASCADE,
    mark   TEXT NOT NULL,
    UNIQUE (space, mark)
) STRICT;
