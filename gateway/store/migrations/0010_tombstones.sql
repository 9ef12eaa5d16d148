-- Marks, without the words, of what was forgotten. Nothing was ever written into the first table of this name.
DROP TABLE tombstones;

-- kind: passage, entry (keyed hashes of all its words), part (of one rare word or number), row (the id of a row that
-- went). fact: the marks that stand and are lifted together. start: keyed hash of the first words, or of the part.
-- size: how many words, or what the part weighs; of a part also what all parts of its fact weigh, and their number.
CREATE TABLE tombstones (
    id     INTEGER PRIMARY KEY,
    space  INTEGER NOT NULL REFERENCES spaces (id),
    forget INTEGER NOT NULL REFERENCES forgets (id) ON DELETE CASCADE,
    kind   TEXT NOT NULL,
    fact   INTEGER NOT NULL,
    start  INTEGER NOT NULL,
    size   INTEGER NOT NULL,
    whole  INTEGER NOT NULL DEFAULT 0,
    parts  INTEGER NOT NULL DEFAULT 0,
    mark   TEXT NOT NULL,
    at     TEXT NOT NULL,
    UNIQUE (forget, fact, kind, mark)
) STRICT;
CREATE INDEX tombstones_by_start ON tombstones (space, kind, start, fact, size, whole, parts);
CREATE INDEX tombstones_by_mark ON tombstones (space, mark);
CREATE INDEX tombstones_by_fact ON tombstones (space, fact);

-- What every hash is keyed with: 32 random bytes, made when the first mark is.
CREATE TABLE tombstone_keys (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    key BLOB NOT NULL
) STRICT;

-- How long the passages and entries are that begin so.
CREATE TABLE tombstone_starts (
    space INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    start INTEGER NOT NULL,
    size  INTEGER NOT NULL,
    PRIMARY KEY (space, start, size)
) STRICT, WITHOUT ROWID;

-- Whether it is worth looking there at all: a Bloom filter of the starts of a space.
CREATE TABLE tombstone_filters (
    space INTEGER PRIMARY KEY REFERENCES spaces (id) ON DELETE CASCADE,
    bits  BLOB NOT NULL
) STRICT;
