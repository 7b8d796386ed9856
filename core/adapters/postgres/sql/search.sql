-- matching --
-- The conditions of core.model.Filter; an empty list asks nothing.
m.state <> 'forgotten' AND m.state = ANY (%(states)s::text[])
AND (m.expires_at IS NULL OR m.expires_at > now())
AND (cardinality(%(layers)s::text[]) = 0 OR m.layer = ANY (%(layers)s::text[]))
AND (cardinality(%(kinds)s::text[]) = 0 OR m.kind = ANY (%(kinds)s::text[]))
AND (%(created_after)s::timestamptz IS NULL OR m.created_at >= %(created_after)s::timestamptz)
AND (%(created_before)s::timestamptz IS NULL OR m.created_at < %(created_before)s::timestamptz)
AND m.confidence >= %(min_confidence)s::float8
AND (%(session)s::bytea IS NULL OR m.session = %(session)s::bytea)
AND (cardinality(%(tags)s::bytea[]) = 0
     OR CASE WHEN %(tags_all)s THEN m.tags @> %(tags)s::bytea[]
             ELSE m.tags && %(tags)s::bytea[] END)

-- find_memories --
SELECT {{row}} FROM memories m {{uses}}
 WHERE {{reach}} AND m.id = ANY (%(ids)s::uuid[]) AND {{matching}}

-- page_of_memories --
-- Two branches, since each walks its own index from where the last page ended.
SELECT {{row}} FROM (
  (SELECT m.* FROM memories m
    WHERE {{own}} AND {{matching}}
      AND (m.created_at, m.id) < (%(after_time)s::timestamptz, %(after_id)s::uuid)
    ORDER BY m.created_at DESC, m.id DESC LIMIT %(limit)s)
  UNION ALL
  (SELECT m.* FROM memories m
    WHERE {{shared}} AND {{matching}}
      AND (m.created_at, m.id) < (%(after_time)s::timestamptz, %(after_id)s::uuid)
    ORDER BY m.created_at DESC, m.id DESC LIMIT %(limit)s)
) AS m {{uses}}
 ORDER BY m.created_at DESC, m.id DESC LIMIT %(limit)s

-- recent_memories --
-- The newest, and besides them the newest of those that the index does not have yet.
WITH newest AS (
  (SELECT m.id, m.created_at FROM memories m WHERE {{own}} AND {{matching}}
    ORDER BY m.created_at DESC, m.id DESC LIMIT %(limit)s)
  UNION ALL
  (SELECT m.id, m.created_at FROM memories m WHERE {{shared}} AND {{matching}}
    ORDER BY m.created_at DESC, m.id DESC LIMIT %(limit)s)
), waiting AS (
  SELECT m.id, m.created_at FROM memories m
   WHERE {{reach}} AND {{matching}}
     AND m.id IN (SELECT m.memory FROM outbox m
                   WHERE m.tenant = %(tenant)s AND m.user_id = %(user)s AND NOT m.removal
                   ORDER BY m.task DESC LIMIT 256)
)
SELECT id, extract(epoch FROM created_at)::float8
  FROM (SELECT id, created_at FROM newest UNION SELECT id, created_at FROM waiting) AS both_kinds
 ORDER BY created_at DESC, id DESC

-- lexical --
-- BM25 with k1 = 1.2, b = 0.75 (Robertson and Zaragoza 2009) over this owner's own texts. Every
-- number in it (texts, mean length, how many have a word) is counted within the scope.
WITH size AS (
  SELECT greatest(coalesce(sum(m.memories), 0), 1)::float8 AS texts,
         greatest(coalesce(sum(m.words), 0), 1)::float8 AS words
    FROM memory_counts m WHERE {{own}}
), posting AS MATERIALIZED (
  SELECT m.token, m.memory, m.tf, m.length FROM memory_tokens m
   WHERE {{own}} AND m.token = ANY (%(terms)s::bigint[])
), word AS (
  SELECT asked.token, ln(1 + (greatest(texts, df) - df + 0.5) / (df + 0.5)) AS weight
    FROM size, unnest(%(terms)s::bigint[]) AS asked (token)
    LEFT JOIN LATERAL (SELECT count(*) AS df FROM posting WHERE posting.token = asked.token) AS have
      ON true
), scored AS (
  SELECT posting.memory, sum(word.weight) AS covered,
         sum(word.weight * 2.2 * tf / (tf + 1.2 * (0.25 + 0.75 * length * texts / words))) AS score
    FROM size, posting JOIN word USING (token)
   GROUP BY posting.memory
)
SELECT m.id, scored.covered / (SELECT sum(weight) FROM word)
  FROM scored JOIN memories m ON m.tenant = %(tenant)s AND m.id = scored.memory
 WHERE {{own}} AND {{matching}}
 ORDER BY scored.score DESC, m.created_at DESC, m.id DESC
 LIMIT %(limit)s
