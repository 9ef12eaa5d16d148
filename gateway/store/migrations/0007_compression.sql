-- How a long session is shortened: what stands for its middle. The messages themselves stay.

-- From this generation on, requests have the text in place of the turns between `head` and `tail`, whose messages
-- have ids from `first` to `last`.
CREATE TABLE summaries (
    session    TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    generation INTEGER NOT NULL,
    head       INTEGER NOT NULL,
    tail       INTEGER NOT NULL,
    first      INTEGER NOT NULL,
    last       INTEGER NOT NULL,
    text       TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (session, generation)
) STRICT, WITHOUT ROWID;

-- Up to which message a session's memory was flushed, and before which turn it is not to be compressed again.
CREATE TABLE compressions (
    session    TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    flushed    INTEGER NOT NULL DEFAULT 0,
    flushed_at TEXT,
    not_before INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- A summary says in other words what its messages say: it goes with any of them, whoever takes them away or
-- changes them. Then its session is sent as it stands, until it is compressed again.
CREATE TRIGGER summaries_go_with_messages AFTER DELETE ON messages WHEN OLD.session IS NOT NULL
BEGIN
    DELETE FROM summaries WHERE session = OLD.session AND OLD.turn > head AND OLD.turn < tail;
END;
CREATE TRIGGER summaries_go_with_words AFTER UPDATE OF text, pieces, sent, tool_calls ON messages
    WHEN OLD.session IS NOT NULL AND (OLD.text, OLD.pieces, OLD.sent, OLD.tool_calls)
                                     IS NOT (NEW.text, NEW.pieces, NEW.sent, NEW.tool_calls)
BEGIN
    DELETE FROM summaries WHERE session = OLD.session AND OLD.turn > head AND OLD.turn < tail;
END;

-- What the last call of a session cost.
CREATE INDEX usage_by_session ON usage (session, task, id) WHERE session <> '';
