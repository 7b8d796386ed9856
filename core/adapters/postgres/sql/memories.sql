-- row --
m.id, m.version, m.user_id, m.namespace, m.space, m.layer, m.kind, m.state, m.importance,
m.confidence, m.persistence, m.sensitivity, m.trust, m.source_kind, m.outcome, m.occurred_at,
m.valid_from, m.valid_until, m.expires_at, m.until_session_end, m.ends_by, m.created_at,
m.updated_at, u.last_used_at, coalesce(u.uses, 0), m.chunks, m.content, m.details

-- own --
-- What is kept of the scope's person, outside `members` spaces.
m.tenant = %(tenant)s AND m.user_id = %(user)s
AND (m.space IS NULL AND m.namespace = ANY (%(namespaces)s::uuid[])
     OR m.space = ANY (%(read_same)s::uuid[]))

-- own_by_id --
-- As `own`, for a row that is looked up by its id: spelled so that no index of the person serves it.
-- Before there are statistics the planner cannot tell that index from the primary key, and would walk
-- all of the person's memories for each one.
m.tenant = %(tenant)s AND (m.user_id = %(user)s) IS TRUE
AND (m.space IS NULL AND m.namespace = ANY (%(namespaces)s::uuid[])
     OR m.space = ANY (%(read_same)s::uuid[]))

-- in_space --
-- Everything in one `members` space: an owner of its own, whoever it is about.
m.tenant = %(tenant)s AND m.space = %(space)s AND m.space = ANY (%(read_members)s::uuid[])

-- in_space_by_id --
-- As `in_space`, spelled like `own_by_id` and for its reason.
m.tenant = %(tenant)s AND (m.space = %(space)s) IS TRUE
AND (m.space = ANY (%(read_members)s::uuid[])) IS TRUE

-- shared --
m.tenant = %(tenant)s AND m.space = ANY (%(read_members)s::uuid[])

-- reach --
-- The sentence of core.scope.Scope, as a condition of the query besides row-level security.
m.tenant = %(tenant)s
AND (m.space IS NULL AND m.user_id = %(user)s AND m.namespace = ANY (%(namespaces)s::uuid[])
     OR m.space = ANY (%(read_same)s::uuid[]) AND m.user_id = %(user)s
     OR m.space = ANY (%(read_members)s::uuid[]))

-- live --
m.state <> 'forgotten' AND (m.expires_at IS NULL OR m.expires_at > now())

-- uses --
LEFT JOIN memory_uses u ON u.tenant = m.tenant AND u.memory = m.id

-- insert_memory --
-- One statement, so that a text that is there already leaves no trace of the attempt.
WITH kept AS (
  INSERT INTO memories (
      tenant, id, version, user_id, namespace, space, space_is_owner, layer, kind, state,
      importance, confidence, persistence, sensitivity, trust, source_kind, outcome, occurred_at,
      valid_from, expires_at, until_session_end, session, tags, digest, terms, term_counts,
      token_count, chunks, embedder, content, details, author, ends_by)
    VALUES (
      %(tenant)s, %(id)s, %(version)s, %(user)s, %(namespace)s, %(space)s, %(space_is_owner)s,
      %(layer)s, %(kind)s, %(state)s, %(importance)s, %(confidence)s, %(persistence)s,
      %(sensitivity)s, %(trust)s, %(source_kind)s, %(outcome)s, %(occurred_at)s,
      coalesce(%(occurred_at)s::timestamptz, now()), %(expires_at)s, %(until_session_end)s,
      %(session)s, %(tags)s::bytea[], %(digest)s, %(terms)s::bigint[], %(counts)s::int[],
      %(token_count)s, cardinality(%(vectors)s::bytea[]), %(embedder)s, %(content)s, %(details)s,
      %(author)s, %(ends_by)s)
    ON CONFLICT (tenant, user_id, digest, namespace, space, layer, kind) WHERE state = 'active'
      DO NOTHING
    RETURNING tenant, user_id, namespace, space, space_is_owner, id, version, token_count, chunks,
              embedder, terms, term_counts
), tokens AS (
  INSERT INTO memory_tokens (tenant, user_id, namespace, space, token, memory, tf, length)
    SELECT tenant, user_id, namespace, space, token, id, tf, token_count
      FROM kept, unnest(terms, term_counts) AS word (token, tf)
), vectors AS (
  INSERT INTO memory_vectors (
      tenant, user_id, namespace, space, memory, chunk, version, embedder, vector)
    SELECT tenant, user_id, namespace, space, id, place - 1, version, embedder, vector
      FROM kept, unnest(%(vectors)s::bytea[]) WITH ORDINALITY AS chunk (vector, place)
), values_behind AS (
  INSERT INTO pseudonyms (tenant, user_id, namespace, space, memory, version, token, sealed)
    SELECT tenant, user_id, namespace, space, id, version, token, sealed
      FROM kept, unnest(%(pseudonyms)s::bytea[], %(behind)s::bytea[]) AS kept_of (token, sealed)
), uses AS (
  INSERT INTO memory_uses (tenant, user_id, namespace, space, memory)
    SELECT tenant, user_id, namespace, space, id FROM kept
), task AS (
  INSERT INTO outbox (
      tenant, user_id, namespace, space, space_is_owner, memory, version, removal, chunks)
    SELECT tenant, user_id, namespace, space, space_is_owner, id, version, false, chunks FROM kept
)
SELECT id FROM kept

-- said_already --
-- Expired rows too: they stand in the way until they are removed.
SELECT (m.expires_at <= now()) IS TRUE, {{row}}
  FROM memories m {{uses}}
 WHERE m.tenant = %(tenant)s AND m.user_id = %(user)s AND m.digest = %(digest)s
   AND m.namespace = %(namespace)s AND m.space IS NOT DISTINCT FROM %(space)s
   AND m.layer = %(layer)s AND m.kind = %(kind)s AND m.state = 'active' AND m.id <> %(id)s
   FOR UPDATE OF m

-- lock_memory --
SELECT m.version, m.chunks, m.token_count, m.namespace, m.space, m.user_id
  FROM memories m
 WHERE {{reach}} AND m.id = %(id)s AND {{live}}
   FOR UPDATE

-- keep_version --
INSERT INTO memory_versions (
    tenant, user_id, namespace, space, memory, version, layer, kind, state, importance, confidence,
    persistence, sensitivity, trust, source_kind, outcome, occurred_at, valid_from, valid_until,
    expires_at, until_session_end, created_at, updated_at, chunks, content, details)
  SELECT tenant, user_id, namespace, space, id, version, layer, kind, state, importance, confidence,
         persistence, sensitivity, trust, source_kind, outcome, occurred_at, valid_from, now(),
         expires_at, until_session_end, created_at, updated_at, chunks, content, details
    FROM memories
   WHERE tenant = %(tenant)s AND id = %(id)s

-- drop_finders --
-- A statement of its own: what it removes is inserted again by the next.
WITH gone AS (
  SELECT tenant, user_id, id, terms FROM memories
   WHERE tenant = %(tenant)s AND id = ANY (%(ids)s::uuid[])
), tokens AS (
  DELETE FROM memory_tokens t USING gone g
   WHERE t.tenant = g.tenant AND t.user_id = g.user_id AND t.token = ANY (g.terms)
     AND t.memory = g.id
)
DELETE FROM memory_vectors WHERE tenant = %(tenant)s AND memory = ANY (%(ids)s::uuid[])

-- revise_memory --
WITH m AS (
  UPDATE memories SET
      version = %(version)s, layer = %(layer)s, kind = %(kind)s, state = %(state)s,
      importance = %(importance)s, confidence = %(confidence)s, persistence = %(persistence)s,
      sensitivity = %(sensitivity)s, trust = %(trust)s, source_kind = %(source_kind)s,
      outcome = %(outcome)s, occurred_at = %(occurred_at)s, expires_at = %(expires_at)s,
      until_session_end = %(until_session_end)s, updated_at = now(), session = %(session)s,
      tags = %(tags)s::bytea[], digest = %(digest)s, terms = %(terms)s::bigint[],
      term_counts = %(counts)s::int[], token_count = %(token_count)s,
      chunks = cardinality(%(vectors)s::bytea[]), embedder = %(embedder)s, content = %(content)s,
      details = %(details)s, ends_by = %(ends_by)s
    WHERE tenant = %(tenant)s AND id = %(id)s
    RETURNING *
), tokens AS (
  INSERT INTO memory_tokens (tenant, user_id, namespace, space, token, memory, tf, length)
    SELECT tenant, user_id, namespace, space, token, id, tf, token_count
      FROM m, unnest(terms, term_counts) AS word (token, tf)
), vectors AS (
  INSERT INTO memory_vectors (
      tenant, user_id, namespace, space, memory, chunk, version, embedder, vector)
    SELECT tenant, user_id, namespace, space, id, place - 1, version, embedder, vector
      FROM m, unnest(%(vectors)s::bytea[]) WITH ORDINALITY AS chunk (vector, place)
), values_behind AS (
  INSERT INTO pseudonyms (tenant, user_id, namespace, space, memory, version, token, sealed)
    SELECT tenant, user_id, namespace, space, id, version, token, sealed
      FROM m, unnest(%(pseudonyms)s::bytea[], %(behind)s::bytea[]) AS kept_of (token, sealed)
), task AS (
  INSERT INTO outbox (
      tenant, user_id, namespace, space, space_is_owner, memory, version, removal, chunks)
    SELECT tenant, user_id, namespace, space, space_is_owner, id, version, false,
           greatest(chunks, %(chunks_before)s) FROM m
)
SELECT {{row}} FROM m {{uses}}

-- adjust_memory --
WITH m AS (
  UPDATE memories m SET confidence = %(confidence)s, updated_at = now()
   WHERE {{reach}} AND m.id = %(id)s AND {{live}}
   RETURNING *
)
SELECT {{row}} FROM m {{uses}}

-- attach_vectors --
WITH m AS (
  UPDATE memories m SET chunks = cardinality(%(vectors)s::bytea[]), embedder = %(embedder)s
   WHERE {{reach}} AND m.id = %(id)s AND m.version = %(version)s AND {{live}}
   RETURNING *
), vectors AS (
  INSERT INTO memory_vectors (
      tenant, user_id, namespace, space, memory, chunk, version, embedder, vector)
    SELECT tenant, user_id, namespace, space, id, place - 1, version, embedder, vector
      FROM m, unnest(%(vectors)s::bytea[]) WITH ORDINALITY AS chunk (vector, place)
    ON CONFLICT (tenant, memory, embedder, chunk)
      DO UPDATE SET version = excluded.version, vector = excluded.vector
), task AS (
  INSERT INTO outbox (
      tenant, user_id, namespace, space, space_is_owner, memory, version, removal, chunks)
    SELECT tenant, user_id, namespace, space, space_is_owner, id, version, false, chunks FROM m
)
SELECT id FROM m

-- get_memory --
SELECT {{row}} FROM memories m {{uses}}
 WHERE {{reach}} AND m.id = %(id)s AND {{live}}

-- get_memory_locked --
SELECT {{row}} FROM memories m {{uses}}
 WHERE {{reach}} AND m.id = %(id)s AND {{live}}
   FOR UPDATE OF m

-- versions_of_memory --
-- The current one is in `memories`, the ones before it in `memory_versions`.
SELECT {{row}} FROM memories m {{uses}}
 WHERE {{reach}} AND m.id = %(id)s AND {{live}}
UNION ALL
SELECT m.memory, m.version, m.user_id, m.namespace, m.space, m.layer, m.kind, m.state, m.importance,
       m.confidence, m.persistence, m.sensitivity, m.trust, m.source_kind, m.outcome, m.occurred_at,
       m.valid_from, m.valid_until, m.expires_at, m.until_session_end, NULL, m.created_at,
       m.updated_at, NULL, 0, m.chunks, m.content, m.details
  FROM memory_versions m
 WHERE {{reach}} AND m.memory = %(id)s
   AND EXISTS (SELECT FROM memories m WHERE {{reach}} AND m.id = %(id)s AND {{live}})
 ORDER BY 2 DESC

-- indexable_memory --
SELECT m.session, m.tags, m.terms, m.term_counts, m.embedder,
       ARRAY(SELECT v.vector FROM memory_vectors v
              WHERE v.tenant = m.tenant AND v.memory = m.id AND v.embedder = m.embedder
                AND v.version = m.version
              ORDER BY v.chunk),
       {{row}}
  FROM memories m {{uses}}
 WHERE {{reach}} AND m.id = %(id)s AND {{live}}

-- pseudonyms_of_memory --
-- Of its live version alone: what an older one held is not revealed any more.
SELECT p.memory, p.version, p.namespace, p.space, p.user_id, p.token, p.sealed
  FROM memories m
  JOIN pseudonyms p ON p.tenant = m.tenant AND p.memory = m.id AND p.version = m.version
 WHERE {{reach}} AND m.id = %(id)s AND {{live}}

-- pseudonyms_by_token --
-- Of the scope's own person, wherever they stand; the newest of each owner, since any will do.
SELECT DISTINCT ON (p.token, CASE WHEN m.space_is_owner THEN m.space END)
       p.memory, p.version, p.namespace, p.space, p.user_id, p.token, p.sealed
  FROM pseudonyms p
  JOIN memories m ON m.tenant = p.tenant AND m.id = p.memory AND m.version = p.version
 WHERE p.tenant = %(tenant)s AND p.user_id = %(user)s AND p.token = ANY (%(tokens)s::bytea[])
   AND {{reach}} AND m.user_id = %(user)s AND {{live}}
 ORDER BY p.token, CASE WHEN m.space_is_owner THEN m.space END, p.created_at DESC

-- lock_memories --
-- In the order of ids, so that two that overlap wait for each other and never both ways.
SELECT m.id, {{live}}, m.user_id, m.namespace, m.space, m.token_count, cardinality(m.terms) > 0,
       m.author
  FROM memories m
 WHERE {{reach}} AND m.id = ANY (%(ids)s::uuid[]) AND m.state <> 'forgotten'
 ORDER BY m.id
   FOR UPDATE

-- forget_memories --
-- They are locked by now, so this sees their last state and all that hangs from it.
WITH gone AS (
  SELECT tenant, user_id, namespace, space, space_is_owner, id, version, chunks
    FROM memories
   WHERE tenant = %(tenant)s AND id = ANY (%(ids)s::uuid[]) AND state <> 'forgotten'
), versions AS (
  DELETE FROM memory_versions WHERE tenant = %(tenant)s AND memory = ANY (%(ids)s::uuid[])
), values_behind AS (
  DELETE FROM pseudonyms WHERE tenant = %(tenant)s AND memory = ANY (%(ids)s::uuid[])
), uses AS (
  DELETE FROM memory_uses WHERE tenant = %(tenant)s AND memory = ANY (%(ids)s::uuid[])
), links AS (
  DELETE FROM memory_links
   WHERE tenant = %(tenant)s
     AND (memory = ANY (%(ids)s::uuid[]) OR target = ANY (%(ids)s::uuid[]))
), task AS (
  INSERT INTO outbox (
      tenant, user_id, namespace, space, space_is_owner, memory, version, removal, chunks)
    SELECT tenant, user_id, namespace, space, space_is_owner, id, version, true,
           greatest(chunks, %(at_least)s) FROM gone
)
UPDATE memories SET
    state = 'forgotten', content = NULL, details = NULL, digest = NULL, session = NULL,
    author = NULL, tags = '{}', terms = '{}', term_counts = '{}', token_count = 0, chunks = 0,
    embedder = '', updated_at = now()
  WHERE tenant = %(tenant)s AND id = ANY (%(ids)s::uuid[]) AND state <> 'forgotten'

-- count_words --
-- The last step of a transaction, since writers of one person wait for each other here.
INSERT INTO memory_counts AS c (tenant, user_id, namespace, space, memories, words)
  SELECT %(tenant)s, user_id, namespace, space, memories, words
    FROM unnest(%(users)s::uuid[], %(namespaces)s::uuid[], %(spaces)s::uuid[],
                %(memories)s::bigint[], %(words)s::bigint[])
         AS change (user_id, namespace, space, memories, words)
   ORDER BY user_id, namespace, space
  ON CONFLICT (tenant, user_id, namespace, space)
    DO UPDATE SET memories = c.memories + excluded.memories, words = c.words + excluded.words

-- count_authors --
-- After `count_words`, and in one order, so that two writers wait for each other one way only.
INSERT INTO memory_authors AS a (tenant, author, memories)
  SELECT %(tenant)s, author, memories
    FROM unnest(%(authors)s::bytea[], %(memories)s::bigint[]) AS change (author, memories)
   ORDER BY author
  ON CONFLICT (tenant, author) DO UPDATE SET memories = a.memories + excluded.memories

-- stored_memories --
-- Of one author, or of all of the tenant; as of the last commit before this statement.
SELECT coalesce(sum(memories), 0)::bigint FROM memory_authors
 WHERE tenant = %(tenant)s AND (%(author)s::bytea IS NULL OR author = %(author)s)

-- stored_in_line --
-- Two names with one number stand in one line; that costs a wait and nothing else.
SELECT pg_advisory_xact_lock(hashtextextended(
  'stored' || %(tenant)s::text || coalesce(encode(%(author)s::bytea, 'hex'), ''), 0))

-- count_uses --
-- A row that somebody else is counting on is left out: nobody waits to read.
UPDATE memory_uses u SET uses = u.uses + 1, last_used_at = now()
  FROM (SELECT m.tenant, m.memory FROM memory_uses m
         WHERE {{reach}} AND m.memory = ANY (%(ids)s::uuid[])
         ORDER BY m.memory
           FOR NO KEY UPDATE SKIP LOCKED) AS free
 WHERE u.tenant = free.tenant AND u.memory = free.memory

-- keep_recall --
INSERT INTO recalls (tenant, id, user_id, sealed, expires_at)
  VALUES (%(tenant)s, %(recall)s, %(user)s, %(sealed)s, now() + make_interval(days => %(days)s))

-- recall_record --
SELECT sealed FROM recalls
 WHERE tenant = %(tenant)s AND id = %(recall)s AND user_id = %(user)s AND expires_at > now()
