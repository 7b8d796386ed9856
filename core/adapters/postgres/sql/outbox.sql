-- lease_tasks --
WITH free AS (
  SELECT task FROM outbox
   WHERE leased_until IS NULL OR leased_until < now()
   ORDER BY task LIMIT %(limit)s
     FOR UPDATE SKIP LOCKED
)
UPDATE outbox o SET leased_until = now() + make_interval(secs => %(seconds)s)
  FROM free WHERE o.task = free.task
  RETURNING o.task, o.tenant, o.user_id, o.namespace, o.space, o.space_is_owner, o.memory,
            o.version, o.removal, o.chunks

-- done_tasks --
DELETE FROM outbox WHERE task = ANY (%(tasks)s::bigint[])

-- pending_tasks --
SELECT count(*) FROM outbox

-- requeue_all --
WITH queued AS (
  INSERT INTO outbox (
      tenant, user_id, namespace, space, space_is_owner, memory, version, removal, chunks)
    SELECT tenant, user_id, namespace, space, space_is_owner, id, version, false, chunks
      FROM memories
     WHERE state IN ('active', 'superseded', 'archived')
       AND (expires_at IS NULL OR expires_at > now())
     ORDER BY id
    RETURNING task
)
SELECT count(*) FROM queued
