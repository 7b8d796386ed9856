-- What is sensitive is in no vector index: a recall opens the vectors of the person's own, the newest
-- first, and compares them itself. It lives for a day, so there is little of it among all the rest.

CREATE INDEX IF NOT EXISTS memories_sensitive
  ON memories (tenant, user_id, created_at DESC, id DESC)
  WHERE sensitivity = 'sensitive' AND state <> 'forgotten';
