-- Memories, their history, and what finds them again.
--
-- The tables that hang from a memory repeat its tenant, person, namespace and space, so that each
-- judges by itself who may see a row. They have no foreign key to it: they are written and removed
-- together with it, and a check a row would lock it once for each of its terms.

CREATE TABLE IF NOT EXISTS memories (
  tenant            uuid NOT NULL,
  id                uuid NOT NULL,
  version           integer NOT NULL CHECK (version >= 1),
  user_id           uuid NOT NULL,
  namespace         uuid NOT NULL,
  space             uuid,
  space_is_owner    boolean NOT NULL DEFAULT false,
  layer             text NOT NULL CHECK (layer IN ('working', 'episodic', 'semantic',
                      'procedural')),
  kind              text NOT NULL CHECK (kind IN ('fact', 'preference', 'constraint', 'event',
                      'entity', 'relation', 'pattern', 'pitfall', 'dialogue')),
  state             text NOT NULL CHECK (state IN ('active', 'superseded', 'archived',
                      'quarantined', 'forgotten')),
  importance        double precision NOT NULL CHECK (importance BETWEEN 0 AND 1),
  confidence        double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  persistence       text NOT NULL CHECK (persistence IN ('volatile', 'durable', 'permanent')),
  sensitivity       text NOT NULL CHECK (sensitivity IN ('none', 'personal', 'special',
                      'sensitive')),
  trust             text NOT NULL CHECK (trust IN ('high', 'medium', 'low')),
  source_kind       text NOT NULL CHECK (source_kind IN ('operator', 'user_direct',
                      'agent_inferred', 'tool_output', 'document', 'imported', 'derived')),
  outcome           text CHECK (outcome IN ('resolved', 'failed')),
  occurred_at       timestamptz,
  valid_from        timestamptz,
  valid_until       timestamptz,
  expires_at        timestamptz,
  until_session_end boolean NOT NULL DEFAULT false,
  created_at        timestamptz NOT NULL DEFAULT now(),
  updated_at        timestamptz NOT NULL DEFAULT now(),
  session           bytea CHECK (octet_length(session) = 16),
  tags              bytea[] NOT NULL DEFAULT '{}' CHECK (cardinality(tags) <= 64),
  digest            bytea CHECK (octet_length(digest) = 32),
  terms             bigint[] NOT NULL DEFAULT '{}',
  term_counts       integer[] NOT NULL DEFAULT '{}',
  token_count       integer NOT NULL DEFAULT 0 CHECK (token_count >= 0),
  chunks            integer NOT NULL DEFAULT 0 CHECK (chunks >= 0),
  embedder          text NOT NULL DEFAULT '' CHECK (length(embedder) <= 200),
  content           bytea CHECK (octet_length(content) <= 262144),
  details           bytea CHECK (octet_length(details) <= 1048576),
  PRIMARY KEY (tenant, id),
  -- Removing a person or a namespace waits for its writers, and none can write after it.
  FOREIGN KEY (tenant, user_id) REFERENCES users,
  FOREIGN KEY (tenant, namespace) REFERENCES namespaces,
  CONSTRAINT memories_space_owner CHECK (space IS NOT NULL OR NOT space_is_owner),
  CONSTRAINT memories_counted_terms CHECK (cardinality(terms) = cardinality(term_counts)),
  CONSTRAINT memories_forgotten_is_empty CHECK (
    CASE WHEN state = 'forgotten'
      THEN content IS NULL AND details IS NULL AND digest IS NULL AND session IS NULL
           AND tags = '{}' AND terms = '{}' AND token_count = 0 AND chunks = 0
      ELSE content IS NOT NULL AND details IS NOT NULL AND digest IS NOT NULL END)
);
-- Ciphertext does not compress.
ALTER TABLE memories ALTER COLUMN content SET STORAGE EXTERNAL,
                     ALTER COLUMN details SET STORAGE EXTERNAL;

-- The same text is kept once. The digest comes early, since a look-up may leave the space out.
CREATE UNIQUE INDEX IF NOT EXISTS memories_said_once
  ON memories (tenant, user_id, digest, namespace, space, layer, kind) NULLS NOT DISTINCT
  WHERE state = 'active';
CREATE INDEX IF NOT EXISTS memories_of_user
  ON memories (tenant, user_id, created_at DESC, id DESC) WHERE state <> 'forgotten';
CREATE INDEX IF NOT EXISTS memories_of_space
  ON memories (tenant, space, created_at DESC, id DESC)
  WHERE state <> 'forgotten' AND space IS NOT NULL;
CREATE INDEX IF NOT EXISTS memories_expiring
  ON memories (expires_at) WHERE state <> 'forgotten' AND expires_at IS NOT NULL;

-- A person belongs to one tenant and a namespace too: without this the planner multiplies their odds.
CREATE STATISTICS IF NOT EXISTS memories_belonging (ndistinct, dependencies, mcv)
  ON tenant, user_id, namespace FROM memories;

CREATE TABLE IF NOT EXISTS memory_versions (
  tenant            uuid NOT NULL,
  user_id           uuid NOT NULL,
  namespace         uuid NOT NULL,
  space             uuid,
  memory            uuid NOT NULL,
  version           integer NOT NULL,
  layer             text NOT NULL,
  kind              text NOT NULL,
  state             text NOT NULL,
  importance        double precision NOT NULL,
  confidence        double precision NOT NULL,
  persistence       text NOT NULL,
  sensitivity       text NOT NULL,
  trust             text NOT NULL,
  source_kind       text NOT NULL,
  outcome           text,
  occurred_at       timestamptz,
  valid_from        timestamptz,
  valid_until       timestamptz,
  expires_at        timestamptz,
  until_session_end boolean NOT NULL,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL,
  chunks            integer NOT NULL,
  content           bytea NOT NULL,
  details           bytea NOT NULL,
  PRIMARY KEY (tenant, memory, version)
);
ALTER TABLE memory_versions ALTER COLUMN content SET STORAGE EXTERNAL,
                            ALTER COLUMN details SET STORAGE EXTERNAL;

-- By itself, so that counting a use rewrites no text.
CREATE TABLE IF NOT EXISTS memory_uses (
  tenant       uuid NOT NULL,
  user_id      uuid NOT NULL,
  namespace    uuid NOT NULL,
  space        uuid,
  memory       uuid NOT NULL,
  uses         integer NOT NULL DEFAULT 0,
  last_used_at timestamptz,
  PRIMARY KEY (tenant, memory)
) WITH (fillfactor = 80);

CREATE TABLE IF NOT EXISTS memory_vectors (
  tenant    uuid NOT NULL,
  user_id   uuid NOT NULL,
  namespace uuid NOT NULL,
  space     uuid,
  memory    uuid NOT NULL,
  chunk     integer NOT NULL CHECK (chunk >= 0),
  version   integer NOT NULL,
  embedder  text NOT NULL,
  vector    bytea NOT NULL CHECK (octet_length(vector) <= 65536),
  PRIMARY KEY (tenant, memory, embedder, chunk)
);
ALTER TABLE memory_vectors ALTER COLUMN vector SET STORAGE EXTERNAL;

-- The lexical index: a row a word of a memory. Never an array under GIN: `&&` is not leakproof, so
-- under row-level security it would not use its index.
CREATE TABLE IF NOT EXISTS memory_tokens (
  tenant    uuid NOT NULL,
  user_id   uuid NOT NULL,
  namespace uuid NOT NULL,
  space     uuid,
  token     bigint NOT NULL,
  memory    uuid NOT NULL,
  tf        integer NOT NULL CHECK (tf >= 1),
  length    integer NOT NULL CHECK (length >= 1)
);
CREATE INDEX IF NOT EXISTS memory_tokens_of_user
  ON memory_tokens (tenant, user_id, token, memory) INCLUDE (tf, length, namespace, space);
CREATE INDEX IF NOT EXISTS memory_tokens_of_space
  ON memory_tokens (tenant, space, token, memory) INCLUDE (tf, length, user_id, namespace)
  WHERE space IS NOT NULL;

-- How many texts and how many words an owner has, for the weights of words; kept by each write as
-- its last step. Counting them in each query would cost more than the search.
CREATE TABLE IF NOT EXISTS memory_counts (
  tenant    uuid NOT NULL,
  user_id   uuid NOT NULL,
  namespace uuid NOT NULL,
  space     uuid,
  memories  bigint NOT NULL,
  words     bigint NOT NULL,
  UNIQUE NULLS NOT DISTINCT (tenant, user_id, namespace, space)
) WITH (fillfactor = 50);

CREATE TABLE IF NOT EXISTS memory_links (
  tenant     uuid NOT NULL,
  user_id    uuid NOT NULL,
  namespace  uuid NOT NULL,
  space      uuid,
  memory     uuid NOT NULL,
  target     uuid NOT NULL,
  relation   text NOT NULL CHECK (relation IN ('derived_from', 'supersedes', 'relates',
               'context_of')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, memory, relation, target)
);
CREATE INDEX IF NOT EXISTS memory_links_to ON memory_links (tenant, target);

DO $$
DECLARE
  reads constant text := format('%s AND (%s OR %s)', wall_tenant(), wall_scope('read'),
                                wall_action('erase'));
  writes constant text := format('%s AND %s AND %s', wall_tenant(), wall_action('write'),
                                 wall_scope('write'));
  removes constant text := format('%s AND (%s AND %s OR %s)', wall_tenant(), wall_action('write'),
                                  wall_scope('write'), wall_action('erase'));
  app constant text := 'memwarden_app';
  target text;
BEGIN
  FOREACH target IN ARRAY ARRAY['memories', 'memory_versions', 'memory_uses', 'memory_vectors',
                                'memory_tokens', 'memory_counts', 'memory_links'] LOOP
    CALL wall(target, app, 'select', reads);
    CALL wall(target, app, 'insert', writes);
    CALL wall(target, app, 'update', writes);
    CALL wall(target, app, 'delete', removes);
  END LOOP;
  -- Who may read a memory may count that it was used.
  CALL wall('memory_uses', app, 'update',
            format('%s AND %s', wall_tenant(), wall_scope('read')));
  -- To rebuild the index: which memories there are, and nothing of what they say.
  CALL wall('memories', 'memwarden_index', 'select',
            $p$state IN ('active', 'superseded', 'archived')
               AND (expires_at IS NULL OR expires_at > now())$p$);
  -- What has expired and is not held.
  CALL wall('memories', 'memwarden_purge', 'select',
            $p$expires_at <= now() AND state <> 'forgotten' AND NOT EXISTS (
                 SELECT FROM users u WHERE u.tenant = memories.tenant AND u.id = memories.user_id
                                       AND u.held)$p$);
END $$;

GRANT SELECT, INSERT, UPDATE, DELETE ON memories TO memwarden_app;
GRANT SELECT, INSERT, DELETE ON memory_versions, memory_tokens, memory_links TO memwarden_app;
GRANT SELECT, INSERT, DELETE, UPDATE (uses, last_used_at) ON memory_uses TO memwarden_app;
GRANT SELECT, INSERT, DELETE, UPDATE (version, vector) ON memory_vectors TO memwarden_app;
GRANT SELECT, INSERT, DELETE, UPDATE (memories, words) ON memory_counts TO memwarden_app;
GRANT SELECT (tenant, id, version, user_id, namespace, space, space_is_owner, state, expires_at,
              chunks) ON memories TO memwarden_index;
GRANT SELECT (tenant, id, version, user_id, namespace, space, space_is_owner, state, expires_at)
  ON memories TO memwarden_purge;
