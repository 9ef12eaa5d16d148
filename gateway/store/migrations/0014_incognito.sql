-- A session that reads memory and leaves nothing: erased when it ends, in no index, list or review.
ALTER TABLE sessions ADD COLUMN incognito INTEGER NOT NULL DEFAULT 0;
CREATE INDEX sessions_incognito ON sessions (id) WHERE incognito = 1;

-- What a forget deletes in chats, and how much of that was deleted: counted for its receipt.
CREATE INDEX outbox_forget_deletes ON outbox (id) WHERE kind = 'forget_delete';
-- The plans that a chat shows, which may be answered there, and how they were drawn last.
CREATE INDEX outbox_plans_in ON outbox (platform, chat, id) WHERE kind = 'forget_plan';
CREATE INDEX outbox_plans_drawn ON outbox (edits, id) WHERE kind = 'forget_plan_update';
