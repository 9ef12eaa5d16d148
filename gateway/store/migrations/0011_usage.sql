-- Resets and usage.

-- When a person last said something in a session, by the platform's clock; '' where it was taken up again since.
ALTER TABLE sessions ADD COLUMN said_at TEXT NOT NULL DEFAULT '';
UPDATE sessions SET said_at = last_at;
