-- What all migrations together give: pg_dump --schema-only, without its settings and comments.
-- tests/core/adapters/postgres/test_documents.py compares it with a migrated database.
CREATE FUNCTION public.access_holds(judged_under bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
  IF judged_under IS DISTINCT FROM coalesce((
       SELECT epoch FROM access_standings
        WHERE tenant = (SELECT nullif(current_setting('app.tenant', true), '')::uuid)), 0) THEN
    RAISE EXCEPTION 'rights have changed' USING ERRCODE = 'MW001';
  END IF;
END $$;
ALTER FUNCTION public.access_holds(judged_under bigint) OWNER TO memwarden_owner;
CREATE FUNCTION public.auth_credential(key_id text) RETURNS TABLE(id text, tenant uuid, roles text[], ceiling text, grants bytea, secret_mac bytea, previous_mac bytea, pepper_version integer, created_at timestamp with time zone, expires_at timestamp with time zone, revoked_at timestamp with time zone, usable boolean, last_used_at timestamp with time zone, epoch bigint, policy text, quotas text, pii text, secrets text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
    SET search_path TO 'pg_catalog', 'pg_temp'
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
ALTER FUNCTION public.auth_credential(key_id text) OWNER TO memwarden_auth;
CREATE FUNCTION public.auth_find_key(key_id text) RETURNS TABLE(id text, tenant uuid, roles text[], ceiling text, grants bytea, secret_mac bytea, previous_mac bytea, pepper_version integer, created_at timestamp with time zone, expires_at timestamp with time zone, revoked_at timestamp with time zone, usable boolean)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT k.id, k.tenant, k.roles, k.ceiling, k.grants, k.secret_mac,
         CASE WHEN k.previous_until > now() THEN k.previous_mac END,
         k.pepper_version, k.created_at, k.expires_at, k.revoked_at,
         k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
    FROM public.api_keys k
   WHERE k.id = key_id
$$;
ALTER FUNCTION public.auth_find_key(key_id text) OWNER TO memwarden_auth;
CREATE FUNCTION public.auth_key(key_id text) RETURNS TABLE(id text, tenant uuid, roles text[], ceiling text, grants bytea, secret_mac bytea, previous_mac bytea, pepper_version integer, created_at timestamp with time zone, expires_at timestamp with time zone, revoked_at timestamp with time zone, usable boolean, last_used_at timestamp with time zone, epoch bigint, policy text, quotas text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT k.id, k.tenant, k.roles, k.ceiling, k.grants, k.secret_mac,
         CASE WHEN k.previous_until > now() THEN k.previous_mac END,
         k.pepper_version, k.created_at, k.expires_at, k.revoked_at,
         k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()), k.last_used_at,
         coalesce(s.epoch, 0), coalesce(s.policy, ''), coalesce(s.quotas, '')
    FROM public.api_keys k LEFT JOIN public.access_standings s ON s.tenant = k.tenant
   WHERE k.id = key_id
$$;
ALTER FUNCTION public.auth_key(key_id text) OWNER TO memwarden_auth;
CREATE FUNCTION public.auth_keys_used(key_ids text[], times timestamp with time zone[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  UPDATE public.api_keys k SET last_used_at = greatest(k.last_used_at, used.at)
    FROM (SELECT unnest(key_ids) AS id, unnest(times) AS at ORDER BY 1) AS used
   WHERE k.id = used.id AND used.at <= now() + interval '1 minute'
$$;
ALTER FUNCTION public.auth_keys_used(key_ids text[], times timestamp with time zone[]) OWNER TO memwarden_auth;
CREATE FUNCTION public.auth_rehash_key(key_id text, old_mac bytea, new_mac bytea, pepper integer) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  WITH changed AS (
    UPDATE public.api_keys k
       SET secret_mac = new_mac, pepper_version = pepper, previous_mac = NULL, previous_until = NULL
     WHERE k.id = key_id AND k.secret_mac = old_mac AND k.pepper_version < pepper
       AND octet_length(old_mac) = 32
    RETURNING k.id)
  SELECT EXISTS (SELECT FROM changed)
$$;
ALTER FUNCTION public.auth_rehash_key(key_id text, old_mac bytea, new_mac bytea, pepper integer) OWNER TO memwarden_auth;
CREATE PROCEDURE public.wall(IN target text, IN role text, IN verb text, IN sentence text, IN checked text DEFAULT NULL::text)
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
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
ALTER PROCEDURE public.wall(IN target text, IN role text, IN verb text, IN sentence text, IN checked text) OWNER TO memwarden_owner;
CREATE FUNCTION public.wall_action(VARIADIC allowed text[]) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN format('(SELECT current_setting(''app.action'', true)) = ANY (%L::text[])'::text, allowed);
ALTER FUNCTION public.wall_action(VARIADIC allowed text[]) OWNER TO memwarden_owner;
CREATE FUNCTION public.wall_scope(reach text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN replace('(
    (space IS NULL
     AND user_id = (SELECT nullif(current_setting(''app.user_id'', true), '''')::uuid)
     AND namespace = ANY ((SELECT nullif(current_setting(''app.namespaces'', true), '''')::uuid[])::uuid[]))
    OR (space = ANY ((SELECT nullif(current_setting(''app.reach_same'', true), '''')::uuid[])::uuid[])
        AND user_id = (SELECT nullif(current_setting(''app.user_id'', true), '''')::uuid))
    OR space = ANY ((SELECT nullif(current_setting(''app.reach_members'', true), '''')::uuid[])::uuid[])
  )'::text, 'app.reach_'::text, (('app.'::text || reach) || '_'::text));
ALTER FUNCTION public.wall_scope(reach text) OWNER TO memwarden_owner;
CREATE FUNCTION public.wall_tenant() RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN 'tenant = (SELECT nullif(current_setting(''app.tenant'', true), '''')::uuid)'::text;
ALTER FUNCTION public.wall_tenant() OWNER TO memwarden_owner;
CREATE TABLE public.access_standings (
    tenant uuid NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    policy text DEFAULT ''::text NOT NULL,
    quotas text DEFAULT ''::text NOT NULL,
    pii text DEFAULT ''::text NOT NULL,
    secrets text DEFAULT ''::text NOT NULL,
    CONSTRAINT access_standings_epoch_check CHECK ((epoch >= 0)),
    CONSTRAINT access_standings_pii_check CHECK ((length(pii) <= 64)),
    CONSTRAINT access_standings_policy_check CHECK ((length(policy) <= 64)),
    CONSTRAINT access_standings_quotas_check CHECK ((length(quotas) <= 64)),
    CONSTRAINT access_standings_secrets_check CHECK ((length(secrets) <= 64))
);
ALTER TABLE ONLY public.access_standings FORCE ROW LEVEL SECURITY;
ALTER TABLE public.access_standings OWNER TO memwarden_owner;
CREATE TABLE public.api_keys (
    id text NOT NULL,
    tenant uuid NOT NULL,
    roles text[] NOT NULL,
    ceiling text NOT NULL,
    grants bytea NOT NULL,
    secret_mac bytea NOT NULL,
    previous_mac bytea,
    previous_until timestamp with time zone,
    pepper_version integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    CONSTRAINT api_keys_ceiling_check CHECK ((ceiling = ANY (ARRAY['operator'::text, 'user_direct'::text, 'agent_inferred'::text, 'tool_output'::text, 'document'::text, 'imported'::text, 'derived'::text]))),
    CONSTRAINT api_keys_grants_check CHECK ((octet_length(grants) <= 1048576)),
    CONSTRAINT api_keys_id_check CHECK ((id ~ '^[a-z0-9]{1,64}$'::text)),
    CONSTRAINT api_keys_overlap_ends CHECK (((previous_mac IS NULL) = (previous_until IS NULL))),
    CONSTRAINT api_keys_previous_mac_check CHECK ((octet_length(previous_mac) = 32)),
    CONSTRAINT api_keys_roles_check CHECK ((roles <@ ARRAY['reader'::text, 'writer'::text, 'curator'::text, 'admin'::text, 'privacy'::text, 'auditor'::text, 'operator'::text])),
    CONSTRAINT api_keys_secret_mac_check CHECK ((octet_length(secret_mac) = 32))
);
ALTER TABLE ONLY public.api_keys FORCE ROW LEVEL SECURITY;
ALTER TABLE public.api_keys OWNER TO memwarden_owner;
CREATE TABLE public.audit_checkpoints (
    tenant uuid NOT NULL,
    size bigint NOT NULL,
    head bytea NOT NULL,
    at timestamp with time zone NOT NULL,
    key_id text NOT NULL,
    signature bytea NOT NULL,
    CONSTRAINT audit_checkpoints_head_check CHECK ((octet_length(head) = 32)),
    CONSTRAINT audit_checkpoints_key_id_check CHECK ((length(key_id) <= 64)),
    CONSTRAINT audit_checkpoints_signature_check CHECK ((octet_length(signature) <= 256)),
    CONSTRAINT audit_checkpoints_size_check CHECK ((size >= 1))
);
ALTER TABLE ONLY public.audit_checkpoints FORCE ROW LEVEL SECURITY;
ALTER TABLE public.audit_checkpoints OWNER TO memwarden_owner;
CREATE TABLE public.audit_events (
    tenant uuid NOT NULL,
    event_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    on_behalf_of text,
    action text NOT NULL,
    object text NOT NULL,
    decision text NOT NULL,
    rule text NOT NULL,
    policy_version text NOT NULL,
    outcome text NOT NULL,
    count integer NOT NULL,
    request_id text NOT NULL,
    trace_id text NOT NULL,
    writer uuid NOT NULL,
    number bigint NOT NULL,
    digest bytea NOT NULL,
    mac bytea NOT NULL,
    sequence bigint,
    prev bytea,
    hash bytea,
    aside boolean DEFAULT false NOT NULL,
    CONSTRAINT audit_events_bounded CHECK (((length(actor) <= 200) AND (length(on_behalf_of) <= 200) AND (length(action) <= 100) AND (length(object) <= 200) AND (length(decision) <= 20) AND (length(rule) <= 500) AND (length(policy_version) <= 200) AND (length(outcome) <= 100) AND (length(request_id) <= 200) AND (length(trace_id) <= 64))),
    CONSTRAINT audit_events_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT audit_events_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT audit_events_mac_check CHECK ((octet_length(mac) = 32)),
    CONSTRAINT audit_events_number_check CHECK ((number >= 1)),
    CONSTRAINT audit_events_placed_whole CHECK ((((sequence IS NULL) = (prev IS NULL)) AND ((sequence IS NULL) = (hash IS NULL)) AND (NOT (aside AND (sequence IS NOT NULL))))),
    CONSTRAINT audit_events_prev_check CHECK ((octet_length(prev) = 32)),
    CONSTRAINT audit_events_sequence_check CHECK ((sequence >= 1))
);
ALTER TABLE ONLY public.audit_events FORCE ROW LEVEL SECURITY;
ALTER TABLE public.audit_events OWNER TO memwarden_owner;
CREATE TABLE public.audit_writers (
    writer uuid NOT NULL,
    cursor bigint NOT NULL
);
ALTER TABLE public.audit_writers OWNER TO memwarden_owner;
CREATE TABLE public.idempotency (
    tenant uuid NOT NULL,
    key bytea NOT NULL,
    body bytea NOT NULL,
    reply bytea NOT NULL,
    reply_id uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT idempotency_body_check CHECK (((octet_length(body) >= 16) AND (octet_length(body) <= 32))),
    CONSTRAINT idempotency_key_check CHECK (((octet_length(key) >= 16) AND (octet_length(key) <= 32))),
    CONSTRAINT idempotency_reply_check CHECK ((octet_length(reply) <= 4194304))
);
ALTER TABLE ONLY public.idempotency ALTER COLUMN reply SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.idempotency FORCE ROW LEVEL SECURITY;
ALTER TABLE public.idempotency OWNER TO memwarden_owner;
CREATE TABLE public.jobs (
    tenant uuid NOT NULL,
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    kind text NOT NULL,
    subject uuid,
    state text DEFAULT 'queued'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    queued_at timestamp with time zone DEFAULT now() NOT NULL,
    leased_until timestamp with time zone,
    finished_at timestamp with time zone,
    CONSTRAINT jobs_kind_check CHECK ((kind ~ '^[a-z_]{1,40}$'::text)),
    CONSTRAINT jobs_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text, 'failed'::text])))
);
ALTER TABLE ONLY public.jobs FORCE ROW LEVEL SECURITY;
ALTER TABLE public.jobs OWNER TO memwarden_owner;
CREATE TABLE public.memories (
    tenant uuid NOT NULL,
    id uuid NOT NULL,
    version integer NOT NULL,
    user_id uuid NOT NULL,
    namespace uuid NOT NULL,
    space uuid,
    space_is_owner boolean DEFAULT false NOT NULL,
    layer text NOT NULL,
    kind text NOT NULL,
    state text NOT NULL,
    importance double precision NOT NULL,
    confidence double precision NOT NULL,
    persistence text NOT NULL,
    sensitivity text NOT NULL,
    trust text NOT NULL,
    source_kind text NOT NULL,
    outcome text,
    occurred_at timestamp with time zone,
    valid_from timestamp with time zone,
    valid_until timestamp with time zone,
    expires_at timestamp with time zone,
    until_session_end boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    session bytea,
    tags bytea[] DEFAULT '{}'::bytea[] NOT NULL,
    digest bytea,
    terms bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    term_counts integer[] DEFAULT '{}'::integer[] NOT NULL,
    token_count integer DEFAULT 0 NOT NULL,
    chunks integer DEFAULT 0 NOT NULL,
    embedder text DEFAULT ''::text NOT NULL,
    content bytea,
    details bytea,
    author bytea,
    ends_by timestamp with time zone,
    CONSTRAINT memories_author_check CHECK ((octet_length(author) = 16)),
    CONSTRAINT memories_chunks_check CHECK ((chunks >= 0)),
    CONSTRAINT memories_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT memories_content_check CHECK ((octet_length(content) <= 262144)),
    CONSTRAINT memories_counted_terms CHECK ((cardinality(terms) = cardinality(term_counts))),
    CONSTRAINT memories_details_check CHECK ((octet_length(details) <= 1048576)),
    CONSTRAINT memories_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT memories_embedder_check CHECK ((length(embedder) <= 200)),
    CONSTRAINT memories_end_in_time CHECK (((ends_by IS NULL) OR COALESCE((expires_at <= ends_by), false))),
    CONSTRAINT memories_forgotten_is_empty CHECK (
CASE
    WHEN (state = 'forgotten'::text) THEN ((content IS NULL) AND (details IS NULL) AND (digest IS NULL) AND (session IS NULL) AND (tags = '{}'::bytea[]) AND (terms = '{}'::bigint[]) AND (token_count = 0) AND (chunks = 0))
    ELSE ((content IS NOT NULL) AND (details IS NOT NULL) AND (digest IS NOT NULL))
END),
    CONSTRAINT memories_importance_check CHECK (((importance >= (0)::double precision) AND (importance <= (1)::double precision))),
    CONSTRAINT memories_kind_check CHECK ((kind = ANY (ARRAY['fact'::text, 'preference'::text, 'constraint'::text, 'event'::text, 'entity'::text, 'relation'::text, 'pattern'::text, 'pitfall'::text, 'dialogue'::text]))),
    CONSTRAINT memories_layer_check CHECK ((layer = ANY (ARRAY['working'::text, 'episodic'::text, 'semantic'::text, 'procedural'::text]))),
    CONSTRAINT memories_outcome_check CHECK ((outcome = ANY (ARRAY['resolved'::text, 'failed'::text]))),
    CONSTRAINT memories_persistence_check CHECK ((persistence = ANY (ARRAY['volatile'::text, 'durable'::text, 'permanent'::text]))),
    CONSTRAINT memories_sensitivity_check CHECK ((sensitivity = ANY (ARRAY['none'::text, 'personal'::text, 'special'::text, 'sensitive'::text]))),
    CONSTRAINT memories_session_check CHECK ((octet_length(session) = 16)),
    CONSTRAINT memories_source_kind_check CHECK ((source_kind = ANY (ARRAY['operator'::text, 'user_direct'::text, 'agent_inferred'::text, 'tool_output'::text, 'document'::text, 'imported'::text, 'derived'::text]))),
    CONSTRAINT memories_space_owner CHECK (((space IS NOT NULL) OR (NOT space_is_owner))),
    CONSTRAINT memories_state_check CHECK ((state = ANY (ARRAY['active'::text, 'superseded'::text, 'archived'::text, 'quarantined'::text, 'forgotten'::text]))),
    CONSTRAINT memories_tags_check CHECK ((cardinality(tags) <= 64)),
    CONSTRAINT memories_token_count_check CHECK ((token_count >= 0)),
    CONSTRAINT memories_trust_check CHECK ((trust = ANY (ARRAY['high'::text, 'medium'::text, 'low'::text]))),
    CONSTRAINT memories_version_check CHECK ((version >= 1))
);
ALTER TABLE ONLY public.memories ALTER COLUMN content SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.memories ALTER COLUMN details SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.memories FORCE ROW LEVEL SECURITY;
ALTER TABLE public.memories OWNER TO memwarden_owner;
CREATE TABLE public.memory_authors (
    tenant uuid NOT NULL,
    author bytea NOT NULL,
    memories bigint NOT NULL,
    CONSTRAINT memory_authors_author_check CHECK ((octet_length(author) = 16))
)
WITH (fillfactor='50');
ALTER TABLE ONLY public.memory_authors FORCE ROW LEVEL SECURITY;
ALTER TABLE public.memory_authors OWNER TO memwarden_owner;
CREATE TABLE public.memory_counts (
    tenant uuid NOT NULL,
    user_id uuid NOT NULL,
    namespace uuid NOT NULL,
    space uuid,
    memories bigint NOT NULL,
    words bigint NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE ONLY public.memory_counts FORCE ROW LEVEL SECURITY;
ALTER TABLE public.memory_counts OWNER TO memwarden_owner;
CREATE TABLE public.memory_links (
    tenant uuid NOT NULL,
    user_id uuid NOT NULL,
    namespace uuid NOT NULL,
    space uuid,
    memory uuid NOT NULL,
    target uuid NOT NULL,
    relation text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT memory_links_relation_check CHECK ((relation = ANY (ARRAY['derived_from'::text, 'supersedes'::text, 'relates'::text, 'context_of'::text])))
);
ALTER TABLE ONLY public.memory_links FORCE ROW LEVEL SECURITY;
ALTER TABLE public.memory_links OWNER TO memwarden_owner;
CREATE TABLE public.memory_tokens (
    tenant uuid NOT NULL,
    user_id uuid NOT NULL,
    namespace uuid NOT NULL,
    space uuid,
    token bigint NOT NULL,
    memory uuid NOT NULL,
    tf integer NOT NULL,
    length integer NOT NULL,
    CONSTRAINT memory_tokens_length_check CHECK ((length >= 1)),
    CONSTRAINT memory_tokens_tf_check CHECK ((tf >= 1))
);
ALTER TABLE ONLY public.memory_tokens FORCE ROW LEVEL SECURITY;
ALTER TABLE public.memory_tokens OWNER TO memwarden_owner;
CREATE TABLE public.memory_uses (
    tenant uuid NOT NULL,
    user_id uuid NOT NULL,
    namespace uuid NOT NULL,
    space uuid,
    memory uuid NOT NULL,
    uses integer DEFAULT 0 NOT NULL,
    last_used_at timestamp with time zone
)
WITH (fillfactor='80');
ALTER TABLE ONLY public.memory_uses FORCE ROW LEVEL SECURITY;
ALTER TABLE public.memory_uses OWNER TO memwarden_owner;
CREATE TABLE public.memory_vectors (
    tenant uuid NOT NULL,
    user_id uuid NOT NULL,
    namespace uuid NOT NULL,
    space uuid,
    memory uuid NOT NULL,
    chunk integer NOT NULL,
    version integer NOT NULL,
    embedder text NOT NULL,
    vector bytea NOT NULL,
    CONSTRAINT memory_vectors_chunk_check CHECK ((chunk >= 0)),
    CONSTRAINT memory_vectors_vector_check CHECK ((octet_length(vector) <= 65536))
);
ALTER TABLE ONLY public.memory_vectors ALTER COLUMN vector SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.memory_vectors FORCE ROW LEVEL SECURITY;
ALTER TABLE public.memory_vectors OWNER TO memwarden_owner;
CREATE TABLE public.memory_versions (
    tenant uuid NOT NULL,
    user_id uuid NOT NULL,
    namespace uuid NOT NULL,
    space uuid,
    memory uuid NOT NULL,
    version integer NOT NULL,
    layer text NOT NULL,
    kind text NOT NULL,
    state text NOT NULL,
    importance double precision NOT NULL,
    confidence double precision NOT NULL,
    persistence text NOT NULL,
    sensitivity text NOT NULL,
    trust text NOT NULL,
    source_kind text NOT NULL,
    outcome text,
    occurred_at timestamp with time zone,
    valid_from timestamp with time zone,
    valid_until timestamp with time zone,
    expires_at timestamp with time zone,
    until_session_end boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    chunks integer NOT NULL,
    content bytea NOT NULL,
    details bytea NOT NULL
);
ALTER TABLE ONLY public.memory_versions ALTER COLUMN content SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.memory_versions ALTER COLUMN details SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.memory_versions FORCE ROW LEVEL SECURITY;
ALTER TABLE public.memory_versions OWNER TO memwarden_owner;
CREATE TABLE public.namespaces (
    tenant uuid NOT NULL,
    id uuid NOT NULL,
    blind bytea NOT NULL,
    name bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT namespaces_blind_check CHECK ((octet_length(blind) = 16)),
    CONSTRAINT namespaces_name_check CHECK ((octet_length(name) <= 4096))
);
ALTER TABLE ONLY public.namespaces FORCE ROW LEVEL SECURITY;
ALTER TABLE public.namespaces OWNER TO memwarden_owner;
CREATE TABLE public.outbox (
    task bigint NOT NULL,
    tenant uuid NOT NULL,
    user_id uuid NOT NULL,
    namespace uuid NOT NULL,
    space uuid,
    space_is_owner boolean NOT NULL,
    memory uuid NOT NULL,
    version integer NOT NULL,
    removal boolean NOT NULL,
    chunks integer NOT NULL,
    queued_at timestamp with time zone DEFAULT now() NOT NULL,
    leased_until timestamp with time zone
);
ALTER TABLE ONLY public.outbox FORCE ROW LEVEL SECURITY;
ALTER TABLE public.outbox OWNER TO memwarden_owner;
ALTER TABLE public.outbox ALTER COLUMN task ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.outbox_task_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.policies (
    tenant uuid NOT NULL,
    kind text NOT NULL,
    version text NOT NULL,
    sealed bytea NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT policies_kind_check CHECK ((kind = ANY (ARRAY['access'::text, 'quotas'::text, 'pii'::text, 'secrets'::text, 'screen'::text, 'retention'::text]))),
    CONSTRAINT policies_sealed_check CHECK ((octet_length(sealed) <= 4194304)),
    CONSTRAINT policies_version_check CHECK ((length(version) <= 64))
);
ALTER TABLE ONLY public.policies ALTER COLUMN sealed SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.policies FORCE ROW LEVEL SECURITY;
ALTER TABLE public.policies OWNER TO memwarden_owner;
CREATE TABLE public.pseudonyms (
    tenant uuid NOT NULL,
    user_id uuid NOT NULL,
    namespace uuid NOT NULL,
    space uuid,
    memory uuid NOT NULL,
    version integer NOT NULL,
    token bytea NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT pseudonyms_sealed_check CHECK ((octet_length(sealed) <= 262144)),
    CONSTRAINT pseudonyms_token_check CHECK ((octet_length(token) = 10)),
    CONSTRAINT pseudonyms_version_check CHECK ((version >= 1))
);
ALTER TABLE ONLY public.pseudonyms ALTER COLUMN sealed SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.pseudonyms FORCE ROW LEVEL SECURITY;
ALTER TABLE public.pseudonyms OWNER TO memwarden_owner;
CREATE TABLE public.recalls (
    tenant uuid NOT NULL,
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    sealed bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT recalls_sealed_check CHECK ((octet_length(sealed) <= 1048576))
);
ALTER TABLE ONLY public.recalls ALTER COLUMN sealed SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.recalls FORCE ROW LEVEL SECURITY;
ALTER TABLE public.recalls OWNER TO memwarden_owner;
CREATE TABLE public.schema_migrations (
    name text NOT NULL,
    checksum bytea NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE public.schema_migrations OWNER TO memwarden_owner;
CREATE TABLE public.space_members (
    tenant uuid NOT NULL,
    space uuid NOT NULL,
    member bytea NOT NULL,
    role text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    kind text NOT NULL,
    name bytea NOT NULL,
    CONSTRAINT space_members_kind_check CHECK ((kind = ANY (ARRAY['key'::text, 'user'::text, 'namespace'::text]))),
    CONSTRAINT space_members_member_check CHECK ((octet_length(member) = 16)),
    CONSTRAINT space_members_name_check CHECK ((octet_length(name) <= 4096)),
    CONSTRAINT space_members_role_check CHECK ((role = ANY (ARRAY['reader'::text, 'writer'::text])))
);
ALTER TABLE ONLY public.space_members FORCE ROW LEVEL SECURITY;
ALTER TABLE public.space_members OWNER TO memwarden_owner;
CREATE TABLE public.spaces (
    tenant uuid NOT NULL,
    id uuid NOT NULL,
    blind bytea NOT NULL,
    name bytea NOT NULL,
    audience text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT spaces_audience_check CHECK ((audience = ANY (ARRAY['same_user'::text, 'members'::text]))),
    CONSTRAINT spaces_blind_check CHECK ((octet_length(blind) = 16)),
    CONSTRAINT spaces_name_check CHECK ((octet_length(name) <= 4096))
);
ALTER TABLE ONLY public.spaces FORCE ROW LEVEL SECURITY;
ALTER TABLE public.spaces OWNER TO memwarden_owner;
CREATE TABLE public.tenants (
    id uuid NOT NULL,
    name bytea,
    name_key bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    erased_at timestamp with time zone,
    CONSTRAINT tenants_erased_without_name CHECK ((((erased_at IS NULL) = (name IS NOT NULL)) AND ((erased_at IS NULL) = (name_key IS NOT NULL)))),
    CONSTRAINT tenants_lengths CHECK (((octet_length(name) <= 4096) AND (octet_length(name_key) <= 32)))
);
ALTER TABLE ONLY public.tenants FORCE ROW LEVEL SECURITY;
ALTER TABLE public.tenants OWNER TO memwarden_owner;
CREATE TABLE public.users (
    tenant uuid NOT NULL,
    id uuid NOT NULL,
    blind bytea NOT NULL,
    held boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT users_blind_check CHECK ((octet_length(blind) = 16))
);
ALTER TABLE ONLY public.users FORCE ROW LEVEL SECURITY;
ALTER TABLE public.users OWNER TO memwarden_owner;
ALTER TABLE ONLY public.access_standings
    ADD CONSTRAINT access_standings_pkey PRIMARY KEY (tenant);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_checkpoints
    ADD CONSTRAINT audit_checkpoints_pkey PRIMARY KEY (tenant, size);
ALTER TABLE ONLY public.audit_events
    ADD CONSTRAINT audit_events_pkey PRIMARY KEY (tenant, event_id);
ALTER TABLE ONLY public.audit_events
    ADD CONSTRAINT audit_events_writer_number_key UNIQUE (writer, number);
ALTER TABLE ONLY public.audit_writers
    ADD CONSTRAINT audit_writers_pkey PRIMARY KEY (writer);
ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (tenant, key);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY public.memories
    ADD CONSTRAINT memories_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY public.memory_authors
    ADD CONSTRAINT memory_authors_pkey PRIMARY KEY (tenant, author);
ALTER TABLE ONLY public.memory_counts
    ADD CONSTRAINT memory_counts_tenant_user_id_namespace_space_key UNIQUE NULLS NOT DISTINCT (tenant, user_id, namespace, space);
ALTER TABLE ONLY public.memory_links
    ADD CONSTRAINT memory_links_pkey PRIMARY KEY (tenant, memory, relation, target);
ALTER TABLE ONLY public.memory_uses
    ADD CONSTRAINT memory_uses_pkey PRIMARY KEY (tenant, memory);
ALTER TABLE ONLY public.memory_vectors
    ADD CONSTRAINT memory_vectors_pkey PRIMARY KEY (tenant, memory, embedder, chunk);
ALTER TABLE ONLY public.memory_versions
    ADD CONSTRAINT memory_versions_pkey PRIMARY KEY (tenant, memory, version);
ALTER TABLE ONLY public.namespaces
    ADD CONSTRAINT namespaces_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY public.namespaces
    ADD CONSTRAINT namespaces_tenant_blind_key UNIQUE (tenant, blind);
ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (task);
ALTER TABLE ONLY public.policies
    ADD CONSTRAINT policies_pkey PRIMARY KEY (tenant, kind);
ALTER TABLE ONLY public.pseudonyms
    ADD CONSTRAINT pseudonyms_pkey PRIMARY KEY (tenant, memory, version, token);
ALTER TABLE ONLY public.recalls
    ADD CONSTRAINT recalls_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.space_members
    ADD CONSTRAINT space_members_pkey PRIMARY KEY (tenant, space, member);
ALTER TABLE ONLY public.spaces
    ADD CONSTRAINT spaces_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY public.spaces
    ADD CONSTRAINT spaces_tenant_blind_key UNIQUE (tenant, blind);
ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_name_key_key UNIQUE (name_key);
ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_tenant_blind_key UNIQUE (tenant, blind);
CREATE INDEX api_keys_of_tenant ON public.api_keys USING btree (tenant, created_at DESC, id DESC);
CREATE UNIQUE INDEX audit_events_in_order ON public.audit_events USING btree (tenant, sequence) WHERE (sequence IS NOT NULL);
CREATE INDEX audit_events_newest ON public.audit_events USING btree (tenant, at DESC, event_id DESC);
CREATE INDEX audit_events_waiting ON public.audit_events USING btree (writer, number) WHERE ((sequence IS NULL) AND (NOT aside));
CREATE INDEX idempotency_expiring ON public.idempotency USING btree (expires_at);
CREATE INDEX memories_expiring ON public.memories USING btree (expires_at) WHERE ((state <> 'forgotten'::text) AND (expires_at IS NOT NULL));
CREATE INDEX memories_of_space ON public.memories USING btree (tenant, space, created_at DESC, id DESC) WHERE ((state <> 'forgotten'::text) AND (space IS NOT NULL));
CREATE INDEX memories_of_user ON public.memories USING btree (tenant, user_id, created_at DESC, id DESC) WHERE (state <> 'forgotten'::text);
CREATE UNIQUE INDEX memories_said_once ON public.memories USING btree (tenant, user_id, digest, namespace, space, layer, kind) NULLS NOT DISTINCT WHERE (state = 'active'::text);
CREATE INDEX memories_sensitive ON public.memories USING btree (tenant, user_id, created_at DESC, id DESC) WHERE ((sensitivity = 'sensitive'::text) AND (state <> 'forgotten'::text));
CREATE INDEX memory_counts_of_space ON public.memory_counts USING btree (tenant, space) WHERE (space IS NOT NULL);
CREATE INDEX memory_links_to ON public.memory_links USING btree (tenant, target);
CREATE INDEX memory_tokens_of_space ON public.memory_tokens USING btree (tenant, space, token, memory) INCLUDE (tf, length, user_id, namespace) WHERE (space IS NOT NULL);
CREATE INDEX memory_tokens_of_user ON public.memory_tokens USING btree (tenant, user_id, token, memory) INCLUDE (tf, length, namespace, space);
CREATE INDEX outbox_of_space ON public.outbox USING btree (tenant, space, task) WHERE (space IS NOT NULL);
CREATE INDEX outbox_of_user ON public.outbox USING btree (tenant, user_id, memory);
CREATE INDEX pseudonyms_by_token ON public.pseudonyms USING btree (tenant, user_id, token);
CREATE INDEX recalls_expiring ON public.recalls USING btree (expires_at);
CREATE INDEX space_members_by_key ON public.space_members USING btree (tenant, member);
CREATE STATISTICS public.memories_belonging ON tenant, user_id, namespace FROM public.memories;
ALTER STATISTICS public.memories_belonging OWNER TO memwarden_owner;
ALTER TABLE ONLY public.access_standings
    ADD CONSTRAINT access_standings_tenant_fkey FOREIGN KEY (tenant) REFERENCES public.tenants(id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_tenant_fkey FOREIGN KEY (tenant) REFERENCES public.tenants(id);
ALTER TABLE ONLY public.memories
    ADD CONSTRAINT memories_in_space FOREIGN KEY (tenant, space) REFERENCES public.spaces(tenant, id);
ALTER TABLE ONLY public.memories
    ADD CONSTRAINT memories_tenant_namespace_fkey FOREIGN KEY (tenant, namespace) REFERENCES public.namespaces(tenant, id);
ALTER TABLE ONLY public.memories
    ADD CONSTRAINT memories_tenant_user_id_fkey FOREIGN KEY (tenant, user_id) REFERENCES public.users(tenant, id);
ALTER TABLE ONLY public.namespaces
    ADD CONSTRAINT namespaces_tenant_fkey FOREIGN KEY (tenant) REFERENCES public.tenants(id);
ALTER TABLE ONLY public.policies
    ADD CONSTRAINT policies_tenant_fkey FOREIGN KEY (tenant) REFERENCES public.tenants(id);
ALTER TABLE ONLY public.space_members
    ADD CONSTRAINT space_members_tenant_space_fkey FOREIGN KEY (tenant, space) REFERENCES public.spaces(tenant, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.spaces
    ADD CONSTRAINT spaces_tenant_fkey FOREIGN KEY (tenant) REFERENCES public.tenants(id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_tenant_fkey FOREIGN KEY (tenant) REFERENCES public.tenants(id);
ALTER TABLE public.access_standings ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.api_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY app_delete ON public.access_standings FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[]))));
CREATE POLICY app_delete ON public.api_keys FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[]))));
CREATE POLICY app_delete ON public.idempotency FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[]))));
CREATE POLICY app_delete ON public.jobs FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[]))));
CREATE POLICY app_delete ON public.memories FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_delete ON public.memory_authors FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[]))));
CREATE POLICY app_delete ON public.memory_counts FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_delete ON public.memory_links FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_delete ON public.memory_tokens FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_delete ON public.memory_uses FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_delete ON public.memory_vectors FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_delete ON public.memory_versions FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_delete ON public.namespaces FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[]))));
CREATE POLICY app_delete ON public.policies FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[]))));
CREATE POLICY app_delete ON public.pseudonyms FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_delete ON public.recalls FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[]))));
CREATE POLICY app_delete ON public.space_members FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer,erase}'::text[]))));
CREATE POLICY app_delete ON public.spaces FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer,erase}'::text[]))));
CREATE POLICY app_delete ON public.users FOR DELETE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[]))));
CREATE POLICY app_insert ON public.access_standings FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer}'::text[]))));
CREATE POLICY app_insert ON public.api_keys FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer,operate}'::text[]))));
CREATE POLICY app_insert ON public.audit_events FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (sequence IS NULL) AND (NOT aside)));
CREATE POLICY app_insert ON public.idempotency FOR INSERT TO memwarden_app WITH CHECK ((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")));
CREATE POLICY app_insert ON public.jobs FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))));
CREATE POLICY app_insert ON public.memories FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))));
CREATE POLICY app_insert ON public.memory_authors FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[]))));
CREATE POLICY app_insert ON public.memory_counts FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))));
CREATE POLICY app_insert ON public.memory_links FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))));
CREATE POLICY app_insert ON public.memory_tokens FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))));
CREATE POLICY app_insert ON public.memory_uses FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))));
CREATE POLICY app_insert ON public.memory_vectors FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))));
CREATE POLICY app_insert ON public.memory_versions FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))));
CREATE POLICY app_insert ON public.namespaces FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{ensure}'::text[]))));
CREATE POLICY app_insert ON public.outbox FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_insert ON public.policies FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer}'::text[]))));
CREATE POLICY app_insert ON public.pseudonyms FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))));
CREATE POLICY app_insert ON public.recalls FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))));
CREATE POLICY app_insert ON public.space_members FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer}'::text[]))));
CREATE POLICY app_insert ON public.spaces FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer}'::text[]))));
CREATE POLICY app_insert ON public.tenants FOR INSERT TO memwarden_app WITH CHECK ((( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{operate}'::text[])));
CREATE POLICY app_insert ON public.users FOR INSERT TO memwarden_app WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{ensure}'::text[]))));
CREATE POLICY app_select ON public.access_standings FOR SELECT TO memwarden_app USING ((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")));
CREATE POLICY app_select ON public.api_keys FOR SELECT TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer,operate,erase}'::text[]))));
CREATE POLICY app_select ON public.audit_checkpoints FOR SELECT TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.audit'::text, true) AS current_setting) = 'read'::text)));
CREATE POLICY app_select ON public.audit_events FOR SELECT TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.audit'::text, true) AS current_setting) = 'read'::text)));
CREATE POLICY app_select ON public.idempotency FOR SELECT TO memwarden_app USING ((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")));
CREATE POLICY app_select ON public.jobs FOR SELECT TO memwarden_app USING ((((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR ((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_select ON public.memories FOR SELECT TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.read_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.read_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_select ON public.memory_authors FOR SELECT TO memwarden_app USING ((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")));
CREATE POLICY app_select ON public.memory_counts FOR SELECT TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.read_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.read_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_select ON public.memory_links FOR SELECT TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.read_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.read_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_select ON public.memory_tokens FOR SELECT TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.read_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.read_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_select ON public.memory_uses FOR SELECT TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.read_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.read_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_select ON public.memory_vectors FOR SELECT TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.read_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.read_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_select ON public.memory_versions FOR SELECT TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.read_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.read_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_select ON public.namespaces FOR SELECT TO memwarden_app USING ((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")));
CREATE POLICY app_select ON public.outbox FOR SELECT TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.read_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.read_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))));
CREATE POLICY app_select ON public.policies FOR SELECT TO memwarden_app USING ((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")));
CREATE POLICY app_select ON public.pseudonyms FOR SELECT TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write,reveal}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.read_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.read_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_select ON public.recalls FOR SELECT TO memwarden_app USING ((((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR ((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))));
CREATE POLICY app_select ON public.space_members FOR SELECT TO memwarden_app USING ((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")));
CREATE POLICY app_select ON public.spaces FOR SELECT TO memwarden_app USING ((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")));
CREATE POLICY app_select ON public.tenants FOR SELECT TO memwarden_app USING (((id = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) OR (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{operate}'::text[]))));
CREATE POLICY app_select ON public.users FOR SELECT TO memwarden_app USING ((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")));
CREATE POLICY app_update ON public.access_standings FOR UPDATE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer}'::text[])))) WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer}'::text[]))));
CREATE POLICY app_update ON public.api_keys FOR UPDATE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer}'::text[])))) WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer}'::text[]))));
CREATE POLICY app_update ON public.idempotency FOR UPDATE TO memwarden_app USING ((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")));
CREATE POLICY app_update ON public.memories FOR UPDATE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))))) WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))));
CREATE POLICY app_update ON public.memory_authors FOR UPDATE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write,erase}'::text[])))) WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write,erase}'::text[]))));
CREATE POLICY app_update ON public.memory_counts FOR UPDATE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))))) WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))));
CREATE POLICY app_update ON public.memory_links FOR UPDATE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))))) WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))));
CREATE POLICY app_update ON public.memory_tokens FOR UPDATE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))))) WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))));
CREATE POLICY app_update ON public.memory_uses FOR UPDATE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.read_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.read_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))))) WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.read_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.read_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))));
CREATE POLICY app_update ON public.memory_vectors FOR UPDATE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))))) WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))));
CREATE POLICY app_update ON public.memory_versions FOR UPDATE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))))) WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{write}'::text[])) AND (((space IS NULL) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif")) AND (namespace = ANY (( SELECT (NULLIF(current_setting('app.namespaces'::text, true), ''::text))::uuid[] AS "nullif")::uuid[]))) OR ((space = ANY (( SELECT (NULLIF(current_setting('app.write_same'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])) AND (user_id = ( SELECT (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid AS "nullif"))) OR (space = ANY (( SELECT (NULLIF(current_setting('app.write_members'::text, true), ''::text))::uuid[] AS "nullif")::uuid[])))));
CREATE POLICY app_update ON public.namespaces FOR UPDATE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))) WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[]))));
CREATE POLICY app_update ON public.policies FOR UPDATE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer}'::text[])))) WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer}'::text[]))));
CREATE POLICY app_update ON public.space_members FOR UPDATE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer}'::text[])))) WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer}'::text[]))));
CREATE POLICY app_update ON public.spaces FOR UPDATE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer,erase}'::text[])))) WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{administer,erase}'::text[]))));
CREATE POLICY app_update ON public.tenants FOR UPDATE TO memwarden_app USING (((id = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])) AND (id <> '00000000-0000-0000-0000-000000000000'::uuid))) WITH CHECK (((id = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])) AND (id <> '00000000-0000-0000-0000-000000000000'::uuid)));
CREATE POLICY app_update ON public.users FOR UPDATE TO memwarden_app USING (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[])))) WITH CHECK (((tenant = ( SELECT (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid AS "nullif")) AND (( SELECT current_setting('app.action'::text, true) AS current_setting) = ANY ('{erase}'::text[]))));
ALTER TABLE public.audit_checkpoints ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.audit_events ENABLE ROW LEVEL SECURITY;
CREATE POLICY auth_select ON public.access_standings FOR SELECT TO memwarden_auth USING (true);
CREATE POLICY auth_select ON public.api_keys FOR SELECT TO memwarden_auth USING (true);
CREATE POLICY auth_update ON public.api_keys FOR UPDATE TO memwarden_auth USING ((revoked_at IS NULL)) WITH CHECK ((revoked_at IS NULL));
ALTER TABLE public.idempotency ENABLE ROW LEVEL SECURITY;
CREATE POLICY index_delete ON public.outbox FOR DELETE TO memwarden_index USING (true);
CREATE POLICY index_insert ON public.outbox FOR INSERT TO memwarden_index WITH CHECK ((NOT removal));
CREATE POLICY index_select ON public.memories FOR SELECT TO memwarden_index USING (((state = ANY (ARRAY['active'::text, 'superseded'::text, 'archived'::text])) AND ((expires_at IS NULL) OR (expires_at > now()))));
CREATE POLICY index_select ON public.outbox FOR SELECT TO memwarden_index USING (true);
CREATE POLICY index_update ON public.outbox FOR UPDATE TO memwarden_index USING (true) WITH CHECK (true);
ALTER TABLE public.jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.memory_authors ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.memory_counts ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.memory_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.memory_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.memory_uses ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.memory_vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.memory_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.namespaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.outbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.policies ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.pseudonyms ENABLE ROW LEVEL SECURITY;
CREATE POLICY purge_delete ON public.idempotency FOR DELETE TO memwarden_purge USING ((expires_at <= now()));
CREATE POLICY purge_delete ON public.recalls FOR DELETE TO memwarden_purge USING ((expires_at <= now()));
CREATE POLICY purge_select ON public.idempotency FOR SELECT TO memwarden_purge USING ((expires_at <= now()));
CREATE POLICY purge_select ON public.memories FOR SELECT TO memwarden_purge USING (((expires_at <= now()) AND (state <> 'forgotten'::text) AND (NOT (EXISTS ( SELECT
   FROM public.users u
  WHERE ((u.tenant = memories.tenant) AND (u.id = memories.user_id) AND u.held))))));
CREATE POLICY purge_select ON public.recalls FOR SELECT TO memwarden_purge USING ((expires_at <= now()));
CREATE POLICY purge_select ON public.users FOR SELECT TO memwarden_purge USING (true);
ALTER TABLE public.recalls ENABLE ROW LEVEL SECURITY;
CREATE POLICY seal_insert ON public.audit_checkpoints FOR INSERT TO memwarden_seal WITH CHECK (true);
CREATE POLICY seal_insert ON public.audit_events FOR INSERT TO memwarden_seal WITH CHECK ((tenant = '00000000-0000-0000-0000-000000000000'::uuid));
CREATE POLICY seal_select ON public.audit_checkpoints FOR SELECT TO memwarden_seal USING (true);
CREATE POLICY seal_select ON public.audit_events FOR SELECT TO memwarden_seal USING (true);
CREATE POLICY seal_update ON public.audit_events FOR UPDATE TO memwarden_seal USING (((sequence IS NULL) AND (NOT aside))) WITH CHECK (true);
ALTER TABLE public.space_members ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.spaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.users ENABLE ROW LEVEL SECURITY;
REVOKE USAGE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO memwarden_app;
GRANT USAGE ON SCHEMA public TO memwarden_auth;
GRANT USAGE ON SCHEMA public TO memwarden_index;
GRANT USAGE ON SCHEMA public TO memwarden_seal;
GRANT USAGE ON SCHEMA public TO memwarden_purge;
REVOKE ALL ON FUNCTION public.access_holds(judged_under bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.access_holds(judged_under bigint) TO memwarden_app;
REVOKE ALL ON FUNCTION public.auth_credential(key_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_credential(key_id text) TO memwarden_app;
REVOKE ALL ON FUNCTION public.auth_find_key(key_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_find_key(key_id text) TO memwarden_app;
REVOKE ALL ON FUNCTION public.auth_key(key_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_key(key_id text) TO memwarden_app;
REVOKE ALL ON FUNCTION public.auth_keys_used(key_ids text[], times timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_keys_used(key_ids text[], times timestamp with time zone[]) TO memwarden_app;
REVOKE ALL ON FUNCTION public.auth_rehash_key(key_id text, old_mac bytea, new_mac bytea, pepper integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_rehash_key(key_id text, old_mac bytea, new_mac bytea, pepper integer) TO memwarden_app;
REVOKE ALL ON PROCEDURE public.wall(IN target text, IN role text, IN verb text, IN sentence text, IN checked text) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.wall_action(VARIADIC allowed text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.wall_scope(reach text) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.wall_tenant() FROM PUBLIC;
GRANT SELECT,INSERT,DELETE ON TABLE public.access_standings TO memwarden_app;
GRANT SELECT ON TABLE public.access_standings TO memwarden_auth;
GRANT UPDATE(epoch) ON TABLE public.access_standings TO memwarden_app;
GRANT UPDATE(policy) ON TABLE public.access_standings TO memwarden_app;
GRANT UPDATE(quotas) ON TABLE public.access_standings TO memwarden_app;
GRANT UPDATE(pii) ON TABLE public.access_standings TO memwarden_app;
GRANT UPDATE(secrets) ON TABLE public.access_standings TO memwarden_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.api_keys TO memwarden_app;
GRANT SELECT ON TABLE public.api_keys TO memwarden_auth;
GRANT UPDATE(secret_mac) ON TABLE public.api_keys TO memwarden_app;
GRANT UPDATE(secret_mac) ON TABLE public.api_keys TO memwarden_auth;
GRANT UPDATE(previous_mac) ON TABLE public.api_keys TO memwarden_app;
GRANT UPDATE(previous_mac) ON TABLE public.api_keys TO memwarden_auth;
GRANT UPDATE(previous_until) ON TABLE public.api_keys TO memwarden_app;
GRANT UPDATE(previous_until) ON TABLE public.api_keys TO memwarden_auth;
GRANT UPDATE(pepper_version) ON TABLE public.api_keys TO memwarden_app;
GRANT UPDATE(pepper_version) ON TABLE public.api_keys TO memwarden_auth;
GRANT UPDATE(revoked_at) ON TABLE public.api_keys TO memwarden_app;
GRANT UPDATE(last_used_at) ON TABLE public.api_keys TO memwarden_auth;
GRANT SELECT ON TABLE public.audit_checkpoints TO memwarden_app;
GRANT SELECT,INSERT ON TABLE public.audit_checkpoints TO memwarden_seal;
GRANT SELECT,INSERT ON TABLE public.audit_events TO memwarden_app;
GRANT SELECT,INSERT ON TABLE public.audit_events TO memwarden_seal;
GRANT UPDATE(sequence) ON TABLE public.audit_events TO memwarden_seal;
GRANT UPDATE(prev) ON TABLE public.audit_events TO memwarden_seal;
GRANT UPDATE(hash) ON TABLE public.audit_events TO memwarden_seal;
GRANT UPDATE(aside) ON TABLE public.audit_events TO memwarden_seal;
GRANT SELECT,INSERT,UPDATE ON TABLE public.audit_writers TO memwarden_seal;
GRANT SELECT,INSERT,DELETE ON TABLE public.idempotency TO memwarden_app;
GRANT DELETE ON TABLE public.idempotency TO memwarden_purge;
GRANT SELECT(tenant) ON TABLE public.idempotency TO memwarden_purge;
GRANT SELECT(key) ON TABLE public.idempotency TO memwarden_purge;
GRANT UPDATE(body) ON TABLE public.idempotency TO memwarden_app;
GRANT UPDATE(reply) ON TABLE public.idempotency TO memwarden_app;
GRANT UPDATE(reply_id) ON TABLE public.idempotency TO memwarden_app;
GRANT UPDATE(expires_at) ON TABLE public.idempotency TO memwarden_app;
GRANT SELECT(expires_at) ON TABLE public.idempotency TO memwarden_purge;
GRANT SELECT,INSERT,DELETE ON TABLE public.jobs TO memwarden_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memories TO memwarden_app;
GRANT SELECT(tenant) ON TABLE public.memories TO memwarden_index;
GRANT SELECT(tenant) ON TABLE public.memories TO memwarden_purge;
GRANT SELECT(id) ON TABLE public.memories TO memwarden_index;
GRANT SELECT(id) ON TABLE public.memories TO memwarden_purge;
GRANT SELECT(version) ON TABLE public.memories TO memwarden_index;
GRANT SELECT(version) ON TABLE public.memories TO memwarden_purge;
GRANT SELECT(user_id) ON TABLE public.memories TO memwarden_index;
GRANT SELECT(user_id) ON TABLE public.memories TO memwarden_purge;
GRANT SELECT(namespace) ON TABLE public.memories TO memwarden_index;
GRANT SELECT(namespace) ON TABLE public.memories TO memwarden_purge;
GRANT SELECT(space) ON TABLE public.memories TO memwarden_index;
GRANT SELECT(space) ON TABLE public.memories TO memwarden_purge;
GRANT SELECT(space_is_owner) ON TABLE public.memories TO memwarden_index;
GRANT SELECT(space_is_owner) ON TABLE public.memories TO memwarden_purge;
GRANT SELECT(state) ON TABLE public.memories TO memwarden_index;
GRANT SELECT(state) ON TABLE public.memories TO memwarden_purge;
GRANT SELECT(expires_at) ON TABLE public.memories TO memwarden_index;
GRANT SELECT(expires_at) ON TABLE public.memories TO memwarden_purge;
GRANT SELECT(chunks) ON TABLE public.memories TO memwarden_index;
GRANT SELECT,INSERT,DELETE ON TABLE public.memory_authors TO memwarden_app;
GRANT UPDATE(memories) ON TABLE public.memory_authors TO memwarden_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.memory_counts TO memwarden_app;
GRANT UPDATE(memories) ON TABLE public.memory_counts TO memwarden_app;
GRANT UPDATE(words) ON TABLE public.memory_counts TO memwarden_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.memory_links TO memwarden_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.memory_tokens TO memwarden_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.memory_uses TO memwarden_app;
GRANT UPDATE(uses) ON TABLE public.memory_uses TO memwarden_app;
GRANT UPDATE(last_used_at) ON TABLE public.memory_uses TO memwarden_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.memory_vectors TO memwarden_app;
GRANT UPDATE(version) ON TABLE public.memory_vectors TO memwarden_app;
GRANT UPDATE(vector) ON TABLE public.memory_vectors TO memwarden_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.memory_versions TO memwarden_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.namespaces TO memwarden_app;
GRANT UPDATE(name) ON TABLE public.namespaces TO memwarden_app;
GRANT SELECT,INSERT ON TABLE public.outbox TO memwarden_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.outbox TO memwarden_index;
GRANT UPDATE(leased_until) ON TABLE public.outbox TO memwarden_index;
GRANT SELECT,INSERT,DELETE ON TABLE public.policies TO memwarden_app;
GRANT UPDATE(version) ON TABLE public.policies TO memwarden_app;
GRANT UPDATE(sealed) ON TABLE public.policies TO memwarden_app;
GRANT UPDATE(changed_at) ON TABLE public.policies TO memwarden_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.pseudonyms TO memwarden_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.recalls TO memwarden_app;
GRANT DELETE ON TABLE public.recalls TO memwarden_purge;
GRANT SELECT(tenant) ON TABLE public.recalls TO memwarden_purge;
GRANT SELECT(id) ON TABLE public.recalls TO memwarden_purge;
GRANT SELECT(expires_at) ON TABLE public.recalls TO memwarden_purge;
GRANT SELECT(name) ON TABLE public.schema_migrations TO memwarden_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.space_members TO memwarden_app;
GRANT UPDATE(role) ON TABLE public.space_members TO memwarden_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.spaces TO memwarden_app;
GRANT UPDATE(name) ON TABLE public.spaces TO memwarden_app;
GRANT SELECT,INSERT ON TABLE public.tenants TO memwarden_app;
GRANT UPDATE(name) ON TABLE public.tenants TO memwarden_app;
GRANT UPDATE(name_key) ON TABLE public.tenants TO memwarden_app;
GRANT UPDATE(erased_at) ON TABLE public.tenants TO memwarden_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.users TO memwarden_app;
GRANT SELECT(tenant) ON TABLE public.users TO memwarden_purge;
GRANT SELECT(id) ON TABLE public.users TO memwarden_purge;
GRANT UPDATE(held) ON TABLE public.users TO memwarden_app;
GRANT SELECT(held) ON TABLE public.users TO memwarden_purge;
