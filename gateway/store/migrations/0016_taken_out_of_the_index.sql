-- What was taken out of the index, counted: of whatever has the higher number it is not known to be merged yet. A home
-- that people have edited messages in has words of them in its index that nobody counted.
ALTER TABLE search_state ADD COLUMN taken INTEGER NOT NULL DEFAULT 0;  -- so often something was taken out
ALTER TABLE search_state ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;  -- up to here it must leave the file soon
ALTER TABLE search_state ADD COLUMN merged INTEGER NOT NULL DEFAULT 0; -- up to here it was merged away
ALTER TABLE search_state ADD COLUMN swept INTEGER NOT NULL DEFAULT 0;  -- up to here that is in the file itself
UPDATE search_state SET taken = 1, asked = sweep > 0;
ALTER TABLE search_state DROP COLUMN sweep;
