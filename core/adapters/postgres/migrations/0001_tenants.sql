-- Tenants, people, namespaces, spaces and API keys, and the walls that every later table uses.
--
-- Rules of all migrations here:
-- - Run as memwarden_owner, in one transaction each; running one again changes nothing.
-- - A table with a tenant column has FORCE ROW LEVEL SECURITY and a policy of its own for each verb.
-- - What a transaction may touch is in settings that live as long as it does (app.tenant and so on);
--   a setting that is empty or missing matches no row.
-- - Settings stand in sub-selects, so that they are read once a query and not once a row.

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public
  TO memwarden_app, memwarden_auth, memwarden_index, memwarden_seal, memwarden_purge;

-- The tenant of this transaction.
CREATE OR REPLACE FUNCTION wall_tenant() RETURNS text IMMUTABLE LANGUAGE sql
  SET search_path = pg_catalog, pg_temp
  RETURN $$tenant = (SELECT nullif(current_setting('app.tenant', true), '')::uuid)$$;

-- The one sentence that says which memories a Scope sees. `reach` is read or write.
CREATE OR REPLACE FUNCTION wall_scope(reach text) RETURNS text IMMUTABLE LANGUAGE sql
  SET search_path = pg_catalog, pg_temp
  RETURN replace($$(
    (space IS NULL
     AND user_id = (SELECT nullif(current_setting('app.user_id', true), '')::uuid)
     AND namespace = ANY ((SELECT nullif(current_setting('app.namespaces', true), '')::uuid[])::uuid[]))
    OR (space = ANY ((SELECT nullif(current_setting('app.reach_same', true), '')::uuid[])::uuid[])
        AND user_id = (SELECT nullif(current_setting('app.user_id', true), '')::uuid))
    OR space = ANY ((SELECT nullif(current_setting('app.reach_members', true), '')::uuid[])::uuid[])
  )$$, 'app.reach_', 'app.' || reach || '_');

-- What this transaction is for: read, write, ensure, administer, operate or erase.
CREATE OR REPLACE FUNCTION wall_action(VARIADIC allowed text[]) RETURNS text IMMUTABLE LANGUAGE sql
  SET search_path = pg_catalog, pg_temp
  RETURN format($$(SELECT current_setting('app.action', true)) = ANY (%L::text[])$$, allowed);

-- Make the policy of one role for one verb, again if it is there. What an update leaves behind must
-- pass `checked`, or else `sentence` too.
CREATE OR REPLACE PROCEDURE wall(
    target text, role text, verb text, sentence text, checked text DEFAULT NULL)
  LANGUAGE plpgsql
  SET search_path = public, pg_temp
AS $$
DECLARE
  name text := replace(role, 'memwarden_', '') || '_' || verb;
BEGIN
  EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', target);
  EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', target);
  EXECUTE format('DROP POLICY IF EXISTS %I ON %I', name, target);
  EXECUTE format(
    'CREATE POLICY %I ON %I FOR %s TO %I %s', name, target, verb, role,
    CASE verb
      WHEN 'insert' THEN format('WITH CHECK (%s)', sentence)
      WHEN 'update' THEN format('USING (%s) WITH CHECK (%s)', sentence, coalesce(checked, sentence))
      ELSE format('USING (%s)', sentence)
    END);
END $$;

REVOKE ALL ON FUNCTION wall_tenant(), wall_scope(text), wall_action(text[]) FROM PUBLIC;
REVOKE ALL ON PROCEDURE wall(text, text, text, text, text) FROM PUBLIC;

CREATE TABLE IF NOT EXISTS tenants (
  id         uuid PRIMARY KEY,
  name       bytea,
  name_key   bytea UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  erased_at  timestamptz,
  CONSTRAINT tenants_erased_without_name CHECK (
    (erased_at IS NULL) = (name IS NOT NULL) AND (erased_at IS NULL) = (name_key IS NOT NULL)),
  CONSTRAINT tenants_lengths CHECK (octet_length(name) <= 4096 AND octet_length(name_key) <= 32)
);

CREATE TABLE IF NOT EXISTS users (
  tenant     uuid NOT NULL REFERENCES tenants,
  id         uuid NOT NULL,
  blind      bytea NOT NULL CHECK (octet_length(blind) = 16),
  held       boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, blind)
);

CREATE TABLE IF NOT EXISTS namespaces (
  tenant     uuid NOT NULL REFERENCES tenants,
  id         uuid NOT NULL,
  blind      bytea NOT NULL CHECK (octet_length(blind) = 16),
  name       bytea NOT NULL CHECK (octet_length(name) <= 4096),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, blind)
);

CREATE TABLE IF NOT EXISTS spaces (
  tenant     uuid NOT NULL REFERENCES tenants,
  id         uuid NOT NULL,
  blind      bytea NOT NULL CHECK (octet_length(blind) = 16),
  name       bytea NOT NULL CHECK (octet_length(name) <= 4096),
  audience   text NOT NULL CHECK (audience IN ('same_user', 'members')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, blind)
);

CREATE TABLE IF NOT EXISTS space_members (
  tenant     uuid NOT NULL,
  space      uuid NOT NULL,
  member     bytea NOT NULL CHECK (octet_length(member) = 16),
  role       text NOT NULL CHECK (role IN ('reader', 'writer')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, space, member),
  FOREIGN KEY (tenant, space) REFERENCES spaces ON DELETE CASCADE
);

-- Unique over all tenants, since a credential is looked up before its tenant is known. A clash tells
-- nothing: ids are 80 random bits that we mint.
CREATE TABLE IF NOT EXISTS api_keys (
  id             text PRIMARY KEY CHECK (id ~ '^[a-z0-9]{1,64}$'),
  tenant         uuid NOT NULL REFERENCES tenants,
  roles          text[] NOT NULL CHECK (roles <@ ARRAY['reader', 'writer', 'curator', 'admin',
                   'privacy', 'auditor', 'operator']),
  ceiling        text NOT NULL CHECK (ceiling IN ('operator', 'user_direct', 'agent_inferred',
                   'tool_output', 'document', 'imported', 'derived')),
  grants         bytea NOT NULL CHECK (octet_length(grants) <= 1048576),
  secret_mac     bytea NOT NULL CHECK (octet_length(secret_mac) = 32),
  previous_mac   bytea CHECK (octet_length(previous_mac) = 32),
  previous_until timestamptz,
  pepper_version integer NOT NULL,
  created_at     timestamptz NOT NULL,
  expires_at     timestamptz,
  revoked_at     timestamptz,
  CONSTRAINT api_keys_overlap_ends CHECK ((previous_mac IS NULL) = (previous_until IS NULL))
);
CREATE INDEX IF NOT EXISTS api_keys_of_tenant ON api_keys (tenant, created_at DESC, id DESC);

DO $$
DECLARE
  t text := wall_tenant();
  app constant text := 'memwarden_app';
  target text;
BEGIN
  CALL wall('tenants', app, 'select',
            format('%s OR %s', replace(t, 'tenant =', 'id ='), wall_action('operate')));
  CALL wall('tenants', app, 'insert', wall_action('operate'));
  CALL wall('tenants', app, 'update',
            format('%s AND %s AND id <> %L', replace(t, 'tenant =', 'id ='),
                   wall_action('erase'), '00000000-0000-0000-0000-000000000000'));
  FOREACH target IN ARRAY ARRAY['users', 'namespaces'] LOOP
    CALL wall(target, app, 'select', t);
    CALL wall(target, app, 'insert', format('%s AND %s', t, wall_action('ensure')));
    -- An update changes nothing yet: erasing a tenant locks its people's rows, and a lock asks this.
    CALL wall(target, app, 'update', format('%s AND %s', t, wall_action('erase')));
    CALL wall(target, app, 'delete', format('%s AND %s', t, wall_action('erase')));
  END LOOP;
  FOREACH target IN ARRAY ARRAY['spaces', 'space_members'] LOOP
    CALL wall(target, app, 'select', t);
    CALL wall(target, app, 'insert', format('%s AND %s', t, wall_action('administer')));
    CALL wall(target, app, 'update', format('%s AND %s', t, wall_action('administer')));
    CALL wall(target, app, 'delete', format('%s AND %s', t, wall_action('administer', 'erase')));
  END LOOP;
  CALL wall('api_keys', app, 'select',
            format('%s AND %s', t, wall_action('administer', 'operate', 'erase')));
  CALL wall('api_keys', app, 'insert',
            format('%s AND %s', t, wall_action('administer', 'operate')));
  CALL wall('api_keys', app, 'update', format('%s AND %s', t, wall_action('administer')));
  CALL wall('api_keys', app, 'delete', format('%s AND %s', t, wall_action('erase')));
  CALL wall('api_keys', 'memwarden_auth', 'select', 'true');
  CALL wall('users', 'memwarden_purge', 'select', 'true');
END $$;

GRANT SELECT, INSERT, UPDATE (name, name_key, erased_at) ON tenants TO memwarden_app;
GRANT SELECT, INSERT, UPDATE (held), DELETE ON users TO memwarden_app;
GRANT SELECT, INSERT, UPDATE (name), DELETE ON namespaces TO memwarden_app;
GRANT SELECT, INSERT, UPDATE (name), DELETE ON spaces TO memwarden_app;
GRANT SELECT, INSERT, UPDATE (role), DELETE ON space_members TO memwarden_app;
GRANT SELECT, INSERT, DELETE,
  UPDATE (secret_mac, previous_mac, previous_until, pepper_version, revoked_at)
  ON api_keys TO memwarden_app;
GRANT SELECT ON api_keys TO memwarden_auth;
GRANT SELECT (tenant, id, held) ON users TO memwarden_purge;

-- The system's own tenant: operators, and what fails before a tenant is known.
ALTER TABLE tenants NO FORCE ROW LEVEL SECURITY;
INSERT INTO tenants (id, name, name_key)
  VALUES ('00000000-0000-0000-0000-000000000000', '', '') ON CONFLICT DO NOTHING;
ALTER TABLE tenants FORCE ROW LEVEL SECURITY;

-- The only look-up that names no tenant: one row of one key, as a role that can do nothing else.
GRANT CREATE ON SCHEMA public TO memwarden_auth;
SET LOCAL ROLE memwarden_auth;
CREATE OR REPLACE FUNCTION auth_find_key(key_id text) RETURNS TABLE (
    id text, tenant uuid, roles text[], ceiling text, grants bytea, secret_mac bytea,
    previous_mac bytea, pepper_version integer, created_at timestamptz, expires_at timestamptz,
    revoked_at timestamptz, usable boolean)
  STABLE SECURITY DEFINER ROWS 1 LANGUAGE sql
  SET search_path = pg_catalog, pg_temp
AS $$
  SELECT k.id, k.tenant, k.roles, k.ceiling, k.grants, k.secret_mac,
         CASE WHEN k.previous_until > now() THEN k.previous_mac END,
         k.pepper_version, k.created_at, k.expires_at, k.revoked_at,
         k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
    FROM public.api_keys k
   WHERE k.id = key_id
$$;
REVOKE ALL ON FUNCTION auth_find_key(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION auth_find_key(text) TO memwarden_app;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM memwarden_auth;
