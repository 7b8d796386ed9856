-- tenant_keys --
-- Destroyed versions come too: their numbers are never used again.
SELECT version, coalesce(wrapped, ''), kek_id, epoch_id, state
FROM tenant_keys WHERE tenant = %(tenant)s ORDER BY version

-- add_tenant_key --
-- Any conflict means that somebody was faster; the caller reads again.
INSERT INTO tenant_keys (tenant, version, wrapped, kek_id, epoch_id, state)
VALUES (%(tenant)s, %(version)s, %(wrapped)s, %(kek_id)s, %(epoch)s, %(state)s)
ON CONFLICT DO NOTHING

-- owner_keys --
SELECT version, coalesce(wrapped, ''), tenant_version, epoch_id, op_count, state
FROM owner_keys
WHERE tenant = %(tenant)s AND owner = %(owner)s AND is_space = %(is_space)s
  AND person = %(person)s
ORDER BY version

-- add_owner_key --
-- As add_tenant_key: the unique index on the current version decides a race.
INSERT INTO owner_keys
    (tenant, owner, is_space, person, version, wrapped, tenant_version, epoch_id, op_count, state)
VALUES
    (%(tenant)s, %(owner)s, %(is_space)s, %(person)s, %(version)s, %(wrapped)s, %(tenant_version)s,
     %(epoch)s, %(op_count)s, %(state)s)
ON CONFLICT DO NOTHING

-- destroy_owner --
-- A held key stays: a hold wins over everything but its release. A space takes its people along.
UPDATE owner_keys SET state = 'destroyed', wrapped = NULL
WHERE tenant = %(tenant)s AND owner = %(owner)s AND is_space = %(is_space)s
  AND (person = %(person)s OR %(person)s = '00000000-0000-0000-0000-000000000000'::uuid)
  AND state IN ('active', 'decrypt_only')

-- count_seals --
-- Added, not set: several processes seal under one key.
UPDATE owner_keys SET op_count = op_count + %(count)s
WHERE tenant = %(tenant)s AND owner = %(owner)s AND is_space = %(is_space)s
  AND person = %(person)s AND version = %(version)s

-- peppers --
-- A table of its own, because a pepper's version is part of every API key's row.
SELECT version, wrapped, kek_id FROM peppers ORDER BY version

-- add_pepper --
INSERT INTO peppers (version, wrapped, kek_id) VALUES (%(version)s, %(wrapped)s, %(kek_id)s)
ON CONFLICT DO NOTHING

-- service_keys --
SELECT version, wrapped, kek_id FROM service_keys WHERE name = %(name)s ORDER BY version

-- add_service_key --
INSERT INTO service_keys (name, version, wrapped, kek_id)
VALUES (%(name)s, %(version)s, %(wrapped)s, %(kek_id)s)
ON CONFLICT DO NOTHING
