-- The same rows are found by less: a time is a number of seconds, and an index ends with the row's id anyway.
DROP INDEX messages_by_person;
CREATE INDEX messages_by_person ON messages (person, unixepoch(at)) WHERE role = 'user';
DROP INDEX messages_by_session;
CREATE INDEX messages_by_session ON messages (session, turn) WHERE session IS NOT NULL;
