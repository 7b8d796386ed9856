-- append_event --
INSERT INTO audit_events ({{event}})
  VALUES (
    %(tenant)s, %(event_id)s, %(at)s, %(actor)s, %(on_behalf_of)s, %(action)s, %(object)s,
    %(decision)s, %(rule)s, %(policy_version)s, %(outcome)s, %(count)s, %(request_id)s,
    %(trace_id)s, %(writer)s, %(number)s, %(digest)s, %(mac)s)

-- event --
tenant, event_id, at, actor, on_behalf_of, action, object, decision, rule, policy_version,
outcome, count, request_id, trace_id, writer, number, digest, mac

-- events_page --
SELECT {{event}}, sequence, prev, hash FROM audit_events
 WHERE tenant = %(tenant)s
   AND (%(since)s::timestamptz IS NULL OR at >= %(since)s::timestamptz)
   AND (%(until)s::timestamptz IS NULL OR at < %(until)s::timestamptz)
   AND (cardinality(%(people)s::text[]) = 0 OR on_behalf_of = ANY (%(people)s::text[]))
   AND (%(action)s::text IS NULL OR action = %(action)s::text)
   AND (at, event_id) < (%(after_time)s::timestamptz, %(after_id)s::uuid)
 ORDER BY at DESC, event_id DESC
 LIMIT %(limit)s

-- unsealed_events --
SELECT {{event}}
  FROM (SELECT *, row_number() OVER (PARTITION BY writer ORDER BY number) AS place
          FROM audit_events WHERE sequence IS NULL AND NOT aside) AS waiting
 WHERE place <= %(limit)s
 ORDER BY writer, number

-- writer_cursors --
SELECT writer, cursor FROM audit_writers WHERE writer = ANY (%(writers)s::uuid[])

-- audit_tenants --
-- From one tenant to the next along the index, which is as much work as there are tenants.
WITH RECURSIVE logged AS (
  (SELECT tenant FROM audit_events ORDER BY tenant LIMIT 1)
  UNION ALL
  SELECT (SELECT e.tenant FROM audit_events e WHERE e.tenant > logged.tenant
           ORDER BY e.tenant LIMIT 1)
    FROM logged WHERE logged.tenant IS NOT NULL
), signed AS (
  (SELECT tenant FROM audit_checkpoints ORDER BY tenant LIMIT 1)
  UNION ALL
  SELECT (SELECT c.tenant FROM audit_checkpoints c WHERE c.tenant > signed.tenant
           ORDER BY c.tenant LIMIT 1)
    FROM signed WHERE signed.tenant IS NOT NULL
)
SELECT tenant FROM logged WHERE tenant IS NOT NULL
UNION
SELECT tenant FROM signed WHERE tenant IS NOT NULL
ORDER BY tenant

-- heads --
SELECT c.tenant, c.size, c.head, c.at, c.key_id, c.signature
  FROM unnest(%(tenants)s::uuid[]) AS asked (tenant)
 CROSS JOIN LATERAL (SELECT * FROM audit_checkpoints k WHERE k.tenant = asked.tenant
                      ORDER BY k.size DESC LIMIT 1) AS c

-- one_sealer --
SELECT pg_advisory_xact_lock(1835365751, 1)

-- add_void --
-- The number may be taken: then the transaction that looked lost did commit, and its event stands.
{{append_event}}
  ON CONFLICT DO NOTHING

-- place_events --
UPDATE audit_events e SET sequence = p.sequence, prev = p.prev, hash = p.hash
  FROM unnest(%(tenants)s::uuid[], %(events)s::uuid[], %(sequences)s::bigint[],
              %(prevs)s::bytea[], %(hashes)s::bytea[])
       AS p (tenant, event_id, sequence, prev, hash)
 WHERE e.tenant = p.tenant AND e.event_id = p.event_id AND e.sequence IS NULL AND NOT e.aside
 RETURNING e.event_id

-- set_aside --
UPDATE audit_events SET aside = true
 WHERE event_id = ANY (%(events)s::uuid[]) AND sequence IS NULL AND NOT aside
 RETURNING event_id

-- add_checkpoint --
INSERT INTO audit_checkpoints (tenant, size, head, at, key_id, signature)
  VALUES (%(tenant)s, %(size)s, %(head)s, %(at)s, %(key_id)s, %(signature)s)

-- advance_writers --
INSERT INTO audit_writers AS w (writer, cursor)
  SELECT * FROM unnest(%(writers)s::uuid[], %(numbers)s::bigint[])
  ON CONFLICT (writer) DO UPDATE SET cursor = greatest(w.cursor, excluded.cursor)

-- sealed_events --
SELECT {{event}}, sequence, prev, hash FROM audit_events
 WHERE tenant = %(tenant)s AND sequence IS NOT NULL AND sequence > %(after)s
 ORDER BY sequence
 LIMIT %(limit)s

-- checkpoints_page --
SELECT tenant, size, head, at, key_id, signature FROM audit_checkpoints
 WHERE tenant = %(tenant)s AND size > %(after)s
 ORDER BY size
 LIMIT %(limit)s
