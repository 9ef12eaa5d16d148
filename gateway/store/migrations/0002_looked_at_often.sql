-- What is asked every few seconds must not read all that ever was. SQLite uses a partial index only where a
-- query repeats its condition; "status IN (…)" was repeated by none, so the whole ledger was read each time.

DROP INDEX writes_open;
CREATE INDEX writes_by_status ON writes (status, space, id);
CREATE INDEX writes_by_decision ON writes (decided_in) WHERE decided_in IS NOT NULL;

DROP INDEX reviews_open;
CREATE INDEX reviews_by_status ON reviews (status, created_at);
