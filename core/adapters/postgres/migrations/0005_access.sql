-- Rights that change: how they stand in each tenant, its own policies, members of spaces by kind,
-- who wrote a memory, and what is written down of a key each time it proves somebody.

-- The epoch grows with everything that takes a right away. What was decided under one epoch does not
-- commit under a later one (access_holds, below). No row means epoch 0 and no policy of one's own.
CREATE TABLE IF NOT EXISTS access_standings (
  tenant uuid PRIMARY KEY REFERENCES tenants,
  epoch  bigint NOT NULL DEFAULT 0 CHECK (epoch >= 0),
  policy text NOT NULL DEFAULT '' CHECK (length(policy) <= 64),
  quotas text NOT NULL DEFAULT '' CHECK (length(quotas) <= 64)
);

CREATE TABLE IF NOT EXISTS policies (
  tenant     uuid NOT NULL REFERENCES tenants,
  kind       text NOT NULL CHECK (kind IN ('access', 'quotas', 'pii', 'secrets', 'screen',
               'retention')),
  version    text NOT NULL CHECK (length(version) <= 64),
  sealed     bytea NOT NULL CHECK (octet_length(sealed) <= 4194304),
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, kind)
);
ALTER TABLE policies ALTER COLUMN sealed SET STORAGE EXTERNAL;

-- What a member is, to let whoever may use every namespace of a tenant in as any of them.
ALTER TABLE space_members ADD COLUMN IF NOT EXISTS kind text NOT NULL
  CHECK (kind IN ('key', 'user', 'namespace'));
ALTER TABLE space_members ADD COLUMN IF NOT EXISTS name bytea NOT NULL
  CHECK (octet_length(name) <= 4096);
CREATE INDEX IF NOT EXISTS space_members_by_key ON space_members (tenant, member);

ALTER TABLE api_keys ADD COLUMN IF NOT EXISTS last_used_at timestamptz;

-- Who wrote a memory, as a keyed hash, and how many live ones each has, for what a key may keep.
ALTER TABLE memories ADD COLUMN IF NOT EXISTS author bytea CHECK (octet_length(author) = 16);
CREATE TABLE IF NOT EXISTS memory_authors (
  tenant   uuid NOT NULL,
  author   bytea NOT NULL CHECK (octet_length(author) = 16),
  memories bigint NOT NULL,
  PRIMARY KEY (tenant, author)
) WITH (fillfactor = 50);

-- What is counted of a space whose members are people, and what of it waits for the index.
CREATE INDEX IF NOT EXISTS memory_counts_of_space ON memory_counts (tenant, space)
  WHERE space IS NOT NULL;
CREATE INDEX IF NOT EXISTS outbox_of_space ON outbox (tenant, space, task) WHERE space IS NOT NULL;

-- A space that is being deleted waits for the writes that are under way in it.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_constraint WHERE conname = 'memories_in_space') THEN
    ALTER TABLE memories ADD CONSTRAINT memories_in_space
      FOREIGN KEY (tenant, space) REFERENCES spaces;
  END IF;
END $$;

DO $$
DECLARE
  t text := wall_tenant();
  app constant text := 'memwarden_app';
BEGIN
  CALL wall('access_standings', app, 'select', t);
  CALL wall('access_standings', app, 'insert', format('%s AND %s', t, wall_action('administer')));
  CALL wall('access_standings', app, 'update', format('%s AND %s', t, wall_action('administer')));
  CALL wall('access_standings', app, 'delete', format('%s AND %s', t, wall_action('erase')));
  CALL wall('access_standings', 'memwarden_auth', 'select', 'true');
  CALL wall('policies', app, 'select', t);
  CALL wall('policies', app, 'insert', format('%s AND %s', t, wall_action('administer')));
  CALL wall('policies', app, 'update', format('%s AND %s', t, wall_action('administer')));
  CALL wall('policies', app, 'delete', format('%s AND %s', t, wall_action('erase')));
  CALL wall('memory_authors', app, 'select', t);
  CALL wall('memory_authors', app, 'insert', format('%s AND %s', t, wall_action('write')));
  CALL wall('memory_authors', app, 'update', format('%s AND %s', t, wall_action('write', 'erase')));
  CALL wall('memory_authors', app, 'delete', format('%s AND %s', t, wall_action('erase')));
  CALL wall('api_keys', 'memwarden_auth', 'update', 'revoked_at IS NULL');
  -- To delete a space is to lock it first, and then what is in it.
  CALL wall('spaces', app, 'update', format('%s AND %s', t, wall_action('administer', 'erase')));
END $$;

GRANT SELECT, INSERT, UPDATE (epoch, policy, quotas), DELETE ON access_standings TO memwarden_app;
GRANT SELECT ON access_standings TO memwarden_auth;
GRANT SELECT, INSERT, UPDATE (version, sealed, changed_at), DELETE ON policies TO memwarden_app;
GRANT SELECT, INSERT, UPDATE (memories), DELETE ON memory_authors TO memwarden_app;
GRANT UPDATE (last_used_at, secret_mac, previous_mac, previous_until, pepper_version)
  ON api_keys TO memwarden_auth;

-- Says nothing while the rights of a tenant stand as they were judged; else the transaction fails.
-- It is asked last, under a snapshot newer than everything that the transaction has read.
CREATE OR REPLACE FUNCTION access_holds(judged_under bigint) RETURNS void LANGUAGE plpgsql
  SET search_path = public, pg_temp
AS $$
BEGIN
  IF judged_under IS DISTINCT FROM coalesce((
       SELECT epoch FROM access_standings
        WHERE tenant = (SELECT nullif(current_setting('app.tenant', true), '')::uuid)), 0) THEN
    RAISE EXCEPTION 'rights have changed' USING ERRCODE = 'MW001';
  END IF;
END $$;
REVOKE ALL ON FUNCTION access_holds(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION access_holds(bigint) TO memwarden_app;

-- As auth_find_key, which the release before calls: one row of one key, with how its tenant stands.
-- Whoever calls the other two holds the secret of the key, or has just seen it proved.
GRANT CREATE ON SCHEMA public TO memwarden_auth;
SET LOCAL ROLE memwarden_auth;
CREATE OR REPLACE FUNCTION auth_key(key_id text) RETURNS TABLE (
    id text, tenant uuid, roles text[], ceiling text, grants bytea, secret_mac bytea,
    previous_mac bytea, pepper_version integer, created_at timestamptz, expires_at timestamptz,
    revoked_at timestamptz, usable boolean, last_used_at timestamptz, epoch bigint, policy text,
    quotas text)
  STABLE SECURITY DEFINER ROWS 1 LANGUAGE sql
  SET search_path = pg_catalog, pg_temp
AS $$
  SELECT k.id, k.tenant, k.roles, k.ceiling, k.grants, k.secret_mac,
         CASE WHEN k.previous_until > now() THEN k.previous_mac END,
         k.pepper_version, k.created_at, k.expires_at, k.revoked_at,
         k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()), k.last_used_at,
         coalesce(s.epoch, 0), coalesce(s.policy, ''), coalesce(s.quotas, '')
    FROM public.api_keys k LEFT JOIN public.access_standings s ON s.tenant = k.tenant
   WHERE k.id = key_id
$$;
CREATE OR REPLACE FUNCTION auth_keys_used(key_ids text[], times timestamptz[]) RETURNS void
  VOLATILE SECURITY DEFINER LANGUAGE sql
  SET search_path = pg_catalog, pg_temp
AS $$
  UPDATE public.api_keys k SET last_used_at = greatest(k.last_used_at, used.at)
    FROM (SELECT unnest(key_ids) AS id, unnest(times) AS at ORDER BY 1) AS used
   WHERE k.id = used.id AND used.at <= now() + interval '1 minute'
$$;
CREATE OR REPLACE FUNCTION auth_rehash_key(
    key_id text, old_mac bytea, new_mac bytea, pepper integer) RETURNS boolean
  VOLATILE SECURITY DEFINER LANGUAGE sql
  SET search_path = pg_catalog, pg_temp
AS $$
  WITH changed AS (
    UPDATE public.api_keys k
       SET secret_mac = new_mac, pepper_version = pepper, previous_mac = NULL, previous_until = NULL
     WHERE k.id = key_id AND k.secret_mac = old_mac AND k.pepper_version < pepper
       AND octet_length(old_mac) = 32
    RETURNING k.id)
  SELECT EXISTS (SELECT FROM changed)
$$;
REVOKE ALL ON FUNCTION auth_key(text), auth_keys_used(text[], timestamptz[]),
  auth_rehash_key(text, bytea, bytea, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION auth_key(text), auth_keys_used(text[], timestamptz[]),
  auth_rehash_key(text, bytea, bytea, integer) TO memwarden_app;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM memwarden_auth;
