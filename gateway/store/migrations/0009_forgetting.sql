-- What is to be forgotten, layer by layer, and the receipt.

-- passage | rows | everything; `passage` is a JSON list of texts, erased at the end.
ALTER TABLE forgets ADD COLUMN kind TEXT NOT NULL DEFAULT 'passage';
-- What goes whole, and what was left out: JSON lists of refs such as "messages:412", without words.
ALTER TABLE forgets ADD COLUMN "rows" TEXT NOT NULL DEFAULT '[]';
ALTER TABLE forgets ADD COLUMN left_out TEXT NOT NULL DEFAULT '[]';
-- The person's own files that hold it and are not touched: [["SOUL.md", 1]].
ALTER TABLE forgets ADD COLUMN left_files TEXT NOT NULL DEFAULT '[]';
-- The message that asked, and who said yes to the plan, and in which command or tap.
ALTER TABLE forgets ADD COLUMN message INTEGER;
ALTER TABLE forgets ADD COLUMN begun_by TEXT NOT NULL DEFAULT '';
ALTER TABLE forgets ADD COLUMN begun_at TEXT;
ALTER TABLE forgets ADD COLUMN begun_in INTEGER;
ALTER TABLE forgets ADD COLUMN expires_at TEXT;
-- Whether a tombstone is left.
ALTER TABLE forgets ADD COLUMN marks INTEGER NOT NULL DEFAULT 1;
-- How it was verified: {"hits": 0, …}.
ALTER TABLE forgets ADD COLUMN verified TEXT NOT NULL DEFAULT '{}';
CREATE INDEX forgets_by_status ON forgets (status, id);
CREATE INDEX forgets_by_space ON forgets (space, id);

-- In which order the layers are gone through.
ALTER TABLE forget_steps ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
-- How often a worker has asked an external memory to erase it.
ALTER TABLE forget_steps ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;

-- How often what was thought about a space before has become void; a commit compares it.
ALTER TABLE spaces ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;

-- Words that the search index does not hold: what a forget looks at besides. The conditions stand in
-- store/finding.py to the letter.
CREATE INDEX messages_beside_index ON messages (id)
    WHERE role IN ('command', 'tap') AND (text <> '' OR pieces <> '[]') OR tool_name = 'session_search'
       OR pieces <> '[]' OR instr(tool_calls, '"session_search"') > 0
       OR role = 'tool' AND instr(text, '\u') > 0;
CREATE INDEX chunks_with_words ON chunks (outgoing) WHERE text <> '';
CREATE INDEX sessions_titled ON sessions (space, title) WHERE title <> '';
CREATE INDEX messages_by_speaker ON messages (speaker, id) WHERE speaker <> '';
CREATE INDEX outbox_forget_plans ON outbox (id) WHERE kind = 'forget_plan';
-- When a forget erased the prompt of a session, which freezes another at its next turn.
ALTER TABLE sessions ADD COLUMN forgotten_at TEXT;
