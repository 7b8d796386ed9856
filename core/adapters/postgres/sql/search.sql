-- matching --
-- The conditions of core.model.Filter; an empty list asks nothing. Where several owners are searched
-- at once, `tags` and `sessions` hold the look-ups of each: a memory can carry those of its own alone,
-- so of its tags as many must be among them as were asked for.
m.state <> 'forgotten' AND m.state = ANY (%(states)s::text[])
AND (m.expires_at IS NULL OR m.expires_at > now())
AND (cardinality(%(layers)s::text[]) = 0 OR m.layer = ANY (%(layers)s::text[]))
AND (cardinality(%(kinds)s::text[]) = 0 OR m.kind = ANY (%(kinds)s::text[]))
AND (%(created_after)s::timestamptz IS NULL OR m.created_at >= %(created_after)s::timestamptz)
AND (%(created_before)s::timestamptz IS NULL OR m.created_at < %(created_before)s::timestamptz)
AND m.confidence >= %(min_confidence)s::float8
AND (cardinality(%(sessions)s::bytea[]) = 0 OR m.session = ANY (%(sessions)s::bytea[]))
AND (cardinality(%(tags)s::bytea[]) = 0
     OR m.tags && %(tags)s::bytea[]
        AND (%(tags_needed)s = 1
             OR (SELECT count(DISTINCT tag) FROM unnest(m.tags) AS tag
                  WHERE tag = ANY (%(tags)s::bytea[])) = %(tags_needed)s))

-- find_memories --
SELECT {{row}} FROM memories m {{uses}}
 WHERE {{reach}} AND m.id = ANY (%(ids)s::uuid[]) AND {{matching}}

-- in_order --
-- For a walk along an index: what sorts instead is fast only until there is much to sort, and the
-- planner cannot tell, since the two walls make it expect a row or two.
SELECT set_config('enable_sort', 'off', true)

-- in_any_order --
SELECT set_config('enable_sort', 'on', true)

-- page_of_memories --
-- The limit stands as a number: as a parameter it makes the planner expect a tenth of all rows.
SELECT {{row}} FROM memories m {{uses}}
 WHERE {{own}} AND {{matching}} AND (NOT %(shared)s OR m.space IS NOT NULL)
   AND (m.created_at, m.id) < (%(after_time)s::timestamptz, %(after_id)s::uuid)
 ORDER BY m.created_at DESC, m.id DESC LIMIT [[limit]]

-- page_of_shared --
-- Each space by itself, since only within one space does the index give the order.
SELECT found.* FROM unnest(%(read_members)s::uuid[]) AS shared (space) CROSS JOIN LATERAL (
  SELECT {{row}} FROM memories m {{uses}}
   WHERE m.tenant = %(tenant)s AND m.space = shared.space AND {{matching}}
     AND (m.created_at, m.id) < (%(after_time)s::timestamptz, %(after_id)s::uuid)
   ORDER BY m.created_at DESC, m.id DESC LIMIT [[limit]]) AS found

-- newest_memories --
SELECT m.created_at, m.id FROM memories m WHERE {{own}} AND {{matching}}
 ORDER BY m.created_at DESC, m.id DESC LIMIT [[limit]]

-- newest_shared --
-- As page_of_shared.
SELECT found.* FROM unnest(%(read_members)s::uuid[]) AS shared (space) CROSS JOIN LATERAL (
  SELECT m.created_at, m.id FROM memories m
   WHERE m.tenant = %(tenant)s AND m.space = shared.space AND {{matching}}
   ORDER BY m.created_at DESC, m.id DESC LIMIT [[limit]]) AS found

-- waiting_memories --
-- The last of those that the index does not have yet.
SELECT m.created_at, m.id FROM memories m
 WHERE {{reach}} AND {{matching}}
   AND m.id = ANY (ARRAY(SELECT m.memory FROM outbox m
                          WHERE m.tenant = %(tenant)s AND m.user_id = %(user)s AND NOT m.removal
                          ORDER BY m.task DESC LIMIT 256))

-- waiting_shared --
SELECT m.created_at, m.id FROM memories m
 WHERE {{shared}} AND {{matching}}
   AND m.id = ANY (ARRAY(SELECT m.memory FROM outbox m
                          WHERE {{shared}} AND NOT m.removal
                          ORDER BY m.task DESC LIMIT 256))

-- sensitive_vectors --
-- What no index has. The class stands as a word, since a partial index serves this and nothing else.
SELECT m.id, m.version, m.namespace, found.vectors
  FROM (SELECT m.id, m.version, m.namespace, m.created_at FROM memories m
         WHERE {{own}} AND m.sensitivity = 'sensitive' AND {{matching}}
         ORDER BY m.created_at DESC, m.id DESC LIMIT [[limit]]) AS m
 CROSS JOIN LATERAL (
   SELECT array_agg(v.vector ORDER BY v.chunk) AS vectors FROM memory_vectors v
    WHERE v.tenant = %(tenant)s AND v.memory = m.id AND v.embedder = %(embedder)s
      AND v.version = m.version) AS found
 WHERE found.vectors IS NOT NULL
 ORDER BY m.created_at DESC, m.id DESC

-- lexical --
-- BM25 with k1 = 1.2, b = 0.75 (Robertson and Zaragoza 2009) over this owner's own texts. Every
-- number in it (texts, mean length, how many have a word) is counted within the scope.
--
-- Words that are in thousands of texts tell little and cost most, so the rarest words propose, each
-- its newest 1,000 texts that fit, until 1,000 are reached; what is best then is judged by all the
-- words. With fewer texts than that nothing is left out. Beyond 5,000 texts and a tenth of all,
-- how common a word is counts as 30 %, since counting on would cost more than it tells.
WITH size AS MATERIALIZED (
  SELECT texts, words, greatest(5000, texts / 10)::bigint AS most
    FROM (SELECT greatest(coalesce(sum(m.memories), 0), 1)::float8 AS texts,
                 greatest(coalesce(sum(m.words), 0), 1)::float8 AS words
            FROM memory_counts m WHERE {{own}}) AS counted
), counted AS MATERIALIZED (
  SELECT asked.token, have.texts AS seen,
         CASE WHEN have.texts < most THEN have.texts ELSE greatest(most, size.texts * 0.3) END AS df
    FROM size CROSS JOIN unnest(%(terms)s::bigint[]) AS asked (token)
   CROSS JOIN LATERAL (
      SELECT count(*)::float8 AS texts
        FROM (SELECT FROM memory_tokens m WHERE {{own}} AND m.token = asked.token
               LIMIT (SELECT most FROM size)) AS reached) AS have
), word AS MATERIALIZED (
  SELECT token, seen, ln(1 + (greatest(texts, df) - df + 0.5) / (df + 0.5)) AS weight,
         coalesce(sum(least(df, 1000)) OVER (ORDER BY df, token ROWS BETWEEN UNBOUNDED PRECEDING
                                             AND 1 PRECEDING), 0) < 1000 AS proposes
    FROM counted, size
), posting AS MATERIALIZED (
  SELECT found.memory, found.created_at, word.weight,
         word.weight * 2.2 * tf / (tf + 1.2 * (0.25 + 0.75::float8 * length * texts / words)) AS score
    FROM size CROSS JOIN word CROSS JOIN LATERAL (
      SELECT t.memory, t.tf, t.length, m.created_at
        FROM (SELECT m.memory, m.tf, m.length FROM memory_tokens m
               WHERE {{own}} AND m.token = word.token ORDER BY m.memory DESC) AS t
        JOIN memories m ON m.tenant = %(tenant)s AND m.id = t.memory
       WHERE {{own_by_id}} AND {{matching}}
       ORDER BY t.memory DESC LIMIT 1000) AS found
   WHERE word.proposes AND word.seen > 0
), best AS MATERIALIZED (
  SELECT memory, max(created_at) AS created_at, sum(weight) AS covered, sum(score) AS score
    FROM posting GROUP BY memory
   ORDER BY score DESC, created_at DESC, memory DESC LIMIT 4 * [[limit]]
), common AS (
  SELECT m.id, sum(word.weight) AS covered,
         sum(word.weight * 2.2 * tf
             / (tf + 1.2 * (0.25 + 0.75::float8 * m.token_count * texts / words))) AS score
    FROM best JOIN memories m ON m.tenant = %(tenant)s AND m.id = best.memory
   CROSS JOIN size CROSS JOIN word
   CROSS JOIN LATERAL (SELECT m.term_counts[array_position(m.terms, word.token)] AS tf) AS said
   WHERE {{own_by_id}} AND NOT word.proposes AND said.tf IS NOT NULL
     AND EXISTS (SELECT FROM word WHERE NOT proposes)
   GROUP BY m.id
)
SELECT best.memory,
       (best.covered + coalesce(common.covered, 0)) / (SELECT sum(weight) FROM word)
  FROM best LEFT JOIN common ON common.id = best.memory
 ORDER BY best.score + coalesce(common.score, 0) DESC, best.created_at DESC, best.memory DESC
 LIMIT [[limit]]
