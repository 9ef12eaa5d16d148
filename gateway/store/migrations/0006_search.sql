-- Another way of searching. The tables of words themselves are made where the database is opened
-- (store/search_index.py), which indexes what is already there anew, slice by slice.

DROP TABLE IF EXISTS message_words;
DROP TABLE IF EXISTS index_behind;

-- Which messages are in the index; the session is a number of searched_sessions, 0 for none; `at` in seconds.
CREATE TABLE message_places (
    id      INTEGER PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    session INTEGER NOT NULL,
    at      INTEGER NOT NULL
) STRICT;

-- From which to which message id a day (in UTC, counted from 1970) goes at most.
CREATE TABLE message_days (
    space INTEGER NOT NULL REFERENCES spaces (id),
    day   INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last  INTEGER NOT NULL,
    PRIMARY KEY (space, day)
) STRICT, WITHOUT ROWID;

-- What a session is about, as it was told to session_words, and from which to which id it went then.
CREATE TABLE searched_sessions (
    number  INTEGER PRIMARY KEY,
    session TEXT NOT NULL UNIQUE REFERENCES sessions (id) ON DELETE CASCADE,
    stale   INTEGER NOT NULL DEFAULT 1,
    words   TEXT NOT NULL DEFAULT '',
    first   INTEGER NOT NULL DEFAULT 0,
    last    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX searched_sessions_stale ON searched_sessions (number) WHERE stale = 1;

-- Which ids are not indexed yet.
CREATE TABLE unindexed (
    space INTEGER PRIMARY KEY REFERENCES spaces (id),
    next  INTEGER NOT NULL,
    last  INTEGER NOT NULL
) STRICT;

-- One row. `sweep`: something was taken out, and its words still lie in the index where nobody can find them.
CREATE TABLE search_state (
    version  INTEGER NOT NULL,
    degraded INTEGER NOT NULL,
    sweep    INTEGER NOT NULL DEFAULT 0
) STRICT;
