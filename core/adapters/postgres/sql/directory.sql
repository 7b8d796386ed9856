-- find_key --
SELECT id, tenant, roles, ceiling, grants, secret_mac, previous_mac, pepper_version, created_at,
       expires_at, revoked_at, usable
  FROM auth_find_key(%(key)s)

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
revoked_at, revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())

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
