-- A tenant's own policies for personal data and for secrets, and the ends that a policy asks for.

ALTER TABLE access_standings ADD COLUMN IF NOT EXISTS pii text NOT NULL DEFAULT ''
  CHECK (length(pii) <= 64);
ALTER TABLE access_standings ADD COLUMN IF NOT EXISTS secrets text NOT NULL DEFAULT ''
  CHECK (length(secrets) <= 64);
GRANT UPDATE (pii, secrets) ON access_standings TO memwarden_app;

-- When a memory expires at the latest. The release before knows nothing of it: what that one would
-- keep for longer, it cannot keep.
ALTER TABLE memories ADD COLUMN IF NOT EXISTS ends_by timestamptz;
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_constraint WHERE conname = 'memories_end_in_time') THEN
    ALTER TABLE memories ADD CONSTRAINT memories_end_in_time
      CHECK (ends_by IS NULL OR coalesce(expires_at <= ends_by, false));
  END IF;
END $$;

-- As auth_key, which the release before calls, with the versions of every policy that decides.
GRANT CREATE ON SCHEMA public TO memwarden_auth;
SET LOCAL ROLE memwarden_auth;
CREATE OR REPLACE FUNCTION auth_credential(key_id text) RETURNS TABLE (
    id text, tenant uuid, roles text[], ceiling text, grants bytea, secret_mac bytea,
    previous_mac bytea, pepper_version integer, created_at timestamptz, expires_at timestamptz,
    revoked_at timestamptz, usable boolean, last_used_at timestamptz, epoch bigint, policy text,
    quotas text, pii text, secrets text)
  STABLE SECURITY DEFINER ROWS 1 LANGUAGE sql
  SET search_path = pg_catalog, pg_temp
AS $$
  SELECT k.id, k.tenant, k.roles, k.ceiling, k.grants, k.secret_mac,
         CASE WHEN k.previous_until > now() THEN k.previous_mac END,
         k.pepper_version, k.created_at, k.expires_at, k.revoked_at,
         k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()), k.last_used_at,
         coalesce(s.epoch, 0), coalesce(s.policy, ''), coalesce(s.quotas, ''),
         coalesce(s.pii, ''), coalesce(s.secrets, '')
    FROM public.api_keys k LEFT JOIN public.access_standings s ON s.tenant = k.tenant
   WHERE k.id = key_id
$$;
REVOKE ALL ON FUNCTION auth_credential(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION auth_credential(text) TO memwarden_app;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM memwarden_auth;
