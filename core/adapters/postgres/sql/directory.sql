-- find_key --
-- Always one row, with a blank id where there is none such: its fetching and reading take as long,
-- so that the time of an answer does not tell which ids exist.
SELECT coalesce(k.id, ''), coalesce(k.tenant, '00000000-0000-0000-0000-000000000000'),
       coalesce(k.roles, '{reader,writer}'), coalesce(k.ceiling, 'user_direct'),
       coalesce(k.grants, decoy.grants), coalesce(k.secret_mac, decoy.secret_mac), k.previous_mac,
       coalesce(k.pepper_version, 1), coalesce(k.created_at, now()), k.expires_at, k.revoked_at,
       coalesce(k.usable, true), k.last_used_at, coalesce(k.epoch, 0), coalesce(k.policy, ''),
       coalesce(k.quotas, ''), coalesce(k.pii, ''), coalesce(k.secrets, '')
  FROM (VALUES (decode(repeat('00', 256), 'hex'), decode(repeat('00', 32), 'hex')))
         AS decoy (grants, secret_mac)
  LEFT JOIN auth_credential(%(key)s) k ON true

-- keys_used --
SELECT auth_keys_used(%(keys)s::text[], %(times)s::timestamptz[])

-- rehash_key --
SELECT auth_rehash_key(%(key)s, %(old_mac)s, %(new_mac)s, %(pepper)s)

-- standing --
SELECT coalesce(s.epoch, 0), coalesce(s.policy, ''), coalesce(s.quotas, ''),
       coalesce(s.pii, ''), coalesce(s.secrets, '')
  FROM tenants t LEFT JOIN access_standings s ON s.tenant = t.id
 WHERE t.id = %(tenant)s AND t.erased_at IS NULL

-- holds --
SELECT access_holds(%(epoch)s)

-- one_by_one --
-- Whoever else administers this tenant waits here, a row that is not there yet included.
INSERT INTO access_standings AS standing (tenant) VALUES (%(tenant)s)
  ON CONFLICT (tenant) DO UPDATE SET epoch = standing.epoch

-- raise_epoch --
INSERT INTO access_standings AS standing (tenant, epoch) VALUES (%(tenant)s, 1)
  ON CONFLICT (tenant) DO UPDATE SET epoch = standing.epoch + 1
  RETURNING epoch

-- policy_of_tenant --
SELECT kind, version, sealed FROM policies WHERE tenant = %(tenant)s AND kind = %(kind)s

-- put_policy --
INSERT INTO policies (tenant, kind, version, sealed)
  VALUES (%(tenant)s, %(kind)s, %(version)s, %(sealed)s)
  ON CONFLICT (tenant, kind) DO UPDATE
    SET version = excluded.version, sealed = excluded.sealed, changed_at = now()

-- note_policy --
UPDATE access_standings SET policy = %(version)s WHERE tenant = %(tenant)s

-- note_quotas --
UPDATE access_standings SET quotas = %(version)s WHERE tenant = %(tenant)s

-- note_pii --
UPDATE access_standings SET pii = %(version)s WHERE tenant = %(tenant)s

-- note_secrets --
UPDATE access_standings SET secrets = %(version)s WHERE tenant = %(tenant)s

-- insert_space --
INSERT INTO spaces (tenant, id, blind, name, audience, created_at)
  VALUES (%(tenant)s, %(id)s, %(key)s, %(name)s, %(audience)s, %(created_at)s)

-- space_columns --
id, blind, name, audience, created_at

-- spaces_of_tenant --
SELECT {{space_columns}} FROM spaces WHERE tenant = %(tenant)s ORDER BY created_at, id

-- space_of_tenant --
SELECT {{space_columns}} FROM spaces WHERE tenant = %(tenant)s AND blind = %(key)s

-- lock_space --
SELECT id FROM spaces WHERE tenant = %(tenant)s AND id = %(space)s FOR UPDATE

-- delete_space --
DELETE FROM spaces WHERE tenant = %(tenant)s AND id = %(space)s

-- put_member --
INSERT INTO space_members (tenant, space, member, role, kind, name, created_at)
  VALUES (%(tenant)s, %(space)s, %(key)s, %(role)s, %(kind)s, %(name)s, now())
  ON CONFLICT (tenant, space, member) DO UPDATE SET role = excluded.role

-- remove_member --
DELETE FROM space_members WHERE tenant = %(tenant)s AND space = %(space)s AND member = %(key)s
  RETURNING member

-- member_role --
SELECT role FROM space_members
 WHERE tenant = %(tenant)s AND space = %(space)s AND member = %(key)s FOR UPDATE

-- members_of_space --
SELECT space, kind, member, name, role, created_at FROM space_members
 WHERE tenant = %(tenant)s AND space = %(space)s ORDER BY created_at, member

-- space_names --
SELECT id, name FROM spaces WHERE tenant = %(tenant)s

-- memberships --
-- Each space once; of several memberships the widest counts.
SELECT s.id, s.blind, s.audience, max(m.role)
  FROM space_members m JOIN spaces s ON s.tenant = m.tenant AND s.id = m.space
 WHERE m.tenant = %(tenant)s
   AND (m.member = ANY (%(members)s::bytea[]) OR %(every_namespace)s AND m.kind = 'namespace')
 GROUP BY s.id, s.blind, s.audience
 ORDER BY s.id

-- count_memories_of_space --
SELECT count(*) FROM memories
 WHERE tenant = %(tenant)s AND space = %(space)s AND state <> 'forgotten'

-- delete_memories_of_space --
-- Before what hangs from them: whoever forgets one locks it first, then what is counted of it.
WITH gone AS (
  DELETE FROM memories WHERE tenant = %(tenant)s AND space = %(space)s RETURNING author, state
)
UPDATE memory_authors a SET memories = a.memories - counted.memories
  FROM (SELECT author, count(*) AS memories FROM gone
         WHERE state <> 'forgotten' AND author IS NOT NULL
         GROUP BY author ORDER BY author) AS counted
 WHERE a.tenant = %(tenant)s AND a.author = counted.author

-- queue_removals_of_space --
INSERT INTO outbox (
    tenant, user_id, namespace, space, space_is_owner, memory, version, removal, chunks)
  SELECT tenant, user_id, namespace, space, space_is_owner, id, version, true, greatest(chunks, 1)
    FROM memories
   WHERE tenant = %(tenant)s AND space = %(space)s AND state <> 'forgotten'

-- resolve --
-- The person as a row without a look-up of its own, the namespaces with theirs.
SELECT NULL AS blind, id FROM users WHERE tenant = %(tenant)s AND blind = %(user)s
UNION ALL
SELECT blind, id FROM namespaces
 WHERE tenant = %(tenant)s
   AND (%(all_namespaces)s OR blind = ANY (%(namespaces)s::bytea[]))

-- living_tenant --
SELECT id FROM tenants WHERE id = %(tenant)s AND erased_at IS NULL

-- ensure_user --
INSERT INTO users (tenant, id, blind) VALUES (%(tenant)s, %(user_id)s, %(user)s)
  ON CONFLICT (tenant, blind) DO NOTHING

-- ensure_namespace --
INSERT INTO namespaces (tenant, id, blind, name)
  VALUES (%(tenant)s, %(namespace_id)s, %(namespace)s, %(sealed_name)s)
  ON CONFLICT (tenant, blind) DO NOTHING

-- namespace_names --
SELECT id, name FROM namespaces WHERE tenant = %(tenant)s

-- insert_tenant --
INSERT INTO tenants (id, name, name_key, created_at)
  VALUES (%(id)s, %(name)s, %(name_key)s, %(created_at)s)

-- tenants_page --
-- The system's own is no customer.
SELECT id, name, created_at FROM tenants
 WHERE erased_at IS NULL AND id > %(after)s
 ORDER BY id LIMIT %(limit)s

-- key_columns --
id, tenant, roles, ceiling, grants, secret_mac,
CASE WHEN previous_until > now() THEN previous_mac END, pepper_version, created_at, expires_at,
revoked_at, revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()), last_used_at

-- insert_key --
INSERT INTO api_keys (id, tenant, roles, ceiling, grants, secret_mac, pepper_version, created_at,
                      expires_at, revoked_at)
  VALUES (%(id)s, %(tenant)s, %(roles)s, %(ceiling)s, %(grants)s, %(secret_mac)s,
          %(pepper_version)s, %(created_at)s, %(expires_at)s, %(revoked_at)s)

-- keys_of_tenant --
SELECT {{key_columns}} FROM api_keys WHERE tenant = %(tenant)s ORDER BY created_at DESC, id DESC

-- key_of_tenant --
SELECT {{key_columns}} FROM api_keys WHERE tenant = %(tenant)s AND id = %(key)s

-- rotate_key --
UPDATE api_keys SET
    previous_mac = CASE WHEN %(overlap_seconds)s > 0 THEN secret_mac END,
    previous_until = CASE WHEN %(overlap_seconds)s > 0
                          THEN now() + make_interval(secs => %(overlap_seconds)s) END,
    secret_mac = %(secret_mac)s
  WHERE tenant = %(tenant)s AND id = %(key)s AND revoked_at IS NULL
  RETURNING {{key_columns}}

-- revoke_key --
UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()), previous_mac = NULL,
                    previous_until = NULL
  WHERE tenant = %(tenant)s AND id = %(key)s
  RETURNING id

-- replayed --
SELECT body, reply, reply_id FROM idempotency
 WHERE tenant = %(tenant)s AND key = %(key)s AND expires_at > now()

-- settle --
-- One whose time is over is replaced; one that counts is left, and no row comes back.
INSERT INTO idempotency AS kept (tenant, key, body, reply, reply_id, expires_at)
  VALUES (%(tenant)s, %(key)s, %(body)s, %(reply)s, %(reply_id)s, now() + interval '24 hours')
  ON CONFLICT (tenant, key) DO UPDATE
    SET body = excluded.body, reply = excluded.reply, reply_id = excluded.reply_id,
        expires_at = excluded.expires_at
    WHERE kept.expires_at <= now()
  RETURNING reply_id

-- lock_tenant --
-- Nobody can add a person meanwhile, and with `lock_people` nobody a memory.
UPDATE tenants SET erased_at = now(), name = NULL, name_key = NULL
 WHERE id = %(tenant)s AND erased_at IS NULL
 RETURNING id

-- lock_people --
SELECT id FROM users WHERE tenant = %(tenant)s ORDER BY id FOR UPDATE

-- count_memories --
SELECT count(*) FROM memories WHERE tenant = %(tenant)s AND state <> 'forgotten'

-- queue_removals --
INSERT INTO outbox (
    tenant, user_id, namespace, space, space_is_owner, memory, version, removal, chunks)
  SELECT tenant, user_id, namespace, space, space_is_owner, id, version, true, greatest(chunks, 1)
    FROM memories WHERE tenant = %(tenant)s AND state <> 'forgotten'
