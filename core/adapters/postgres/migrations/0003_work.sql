-- What follows from a transaction: index tasks, kept replies, records of recalls, jobs.

-- Ids and versions only, never a text or a vector.
CREATE TABLE IF NOT EXISTS outbox (
  task           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant         uuid NOT NULL,
  user_id        uuid NOT NULL,
  namespace      uuid NOT NULL,
  space          uuid,
  space_is_owner boolean NOT NULL,
  memory         uuid NOT NULL,
  version        integer NOT NULL,
  removal        boolean NOT NULL,
  chunks         integer NOT NULL,
  queued_at      timestamptz NOT NULL DEFAULT now(),
  leased_until   timestamptz
);
CREATE INDEX IF NOT EXISTS outbox_of_user ON outbox (tenant, user_id, memory);

CREATE TABLE IF NOT EXISTS idempotency (
  tenant     uuid NOT NULL,
  key        bytea NOT NULL CHECK (octet_length(key) BETWEEN 16 AND 32),
  body       bytea NOT NULL CHECK (octet_length(body) BETWEEN 16 AND 32),
  reply      bytea NOT NULL CHECK (octet_length(reply) <= 4194304),
  reply_id   uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant, key)
);
ALTER TABLE idempotency ALTER COLUMN reply SET STORAGE EXTERNAL;
CREATE INDEX IF NOT EXISTS idempotency_expiring ON idempotency (expires_at);

CREATE TABLE IF NOT EXISTS recalls (
  tenant     uuid NOT NULL,
  id         uuid NOT NULL,
  user_id    uuid NOT NULL,
  sealed     bytea NOT NULL CHECK (octet_length(sealed) <= 1048576),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant, id)
);
ALTER TABLE recalls ALTER COLUMN sealed SET STORAGE EXTERNAL;
CREATE INDEX IF NOT EXISTS recalls_expiring ON recalls (expires_at);

CREATE TABLE IF NOT EXISTS jobs (
  tenant       uuid NOT NULL,
  id           uuid NOT NULL,
  user_id      uuid NOT NULL,
  kind         text NOT NULL CHECK (kind ~ '^[a-z_]{1,40}$'),
  subject      uuid,
  state        text NOT NULL DEFAULT 'queued'
                 CHECK (state IN ('queued', 'running', 'done', 'failed')),
  attempts     integer NOT NULL DEFAULT 0,
  queued_at    timestamptz NOT NULL DEFAULT now(),
  leased_until timestamptz,
  finished_at  timestamptz,
  PRIMARY KEY (tenant, id)
);

DO $$
DECLARE
  t constant text := wall_tenant();
  mine constant text := format('%s AND %s', wall_tenant(),
    $p$user_id = (SELECT nullif(current_setting('app.user_id', true), '')::uuid)$p$);
  app constant text := 'memwarden_app';
  target text;
BEGIN
  CALL wall('outbox', app, 'select', format('%s AND %s', t, wall_scope('read')));
  CALL wall('outbox', app, 'insert', format('%s AND (%s AND %s OR %s)', t, wall_action('write'),
                                            wall_scope('write'), wall_action('erase')));
  CALL wall('idempotency', app, 'select', t);
  CALL wall('idempotency', app, 'insert', t);
  CALL wall('idempotency', app, 'update', t);
  CALL wall('idempotency', app, 'delete', format('%s AND %s', t, wall_action('erase')));
  FOREACH target IN ARRAY ARRAY['recalls', 'jobs'] LOOP
    CALL wall(target, app, 'select', format('%s OR %s AND %s', mine, t, wall_action('erase')));
    CALL wall(target, app, 'insert', mine);
    CALL wall(target, app, 'delete', format('%s AND %s', t, wall_action('erase')));
  END LOOP;
  CALL wall('outbox', 'memwarden_index', 'select', 'true');
  CALL wall('outbox', 'memwarden_index', 'insert', 'NOT removal');
  CALL wall('outbox', 'memwarden_index', 'update', 'true');
  CALL wall('outbox', 'memwarden_index', 'delete', 'true');
  FOREACH target IN ARRAY ARRAY['recalls', 'idempotency'] LOOP
    CALL wall(target, 'memwarden_purge', 'select', 'expires_at <= now()');
    CALL wall(target, 'memwarden_purge', 'delete', 'expires_at <= now()');
  END LOOP;
END $$;

GRANT SELECT, INSERT ON outbox TO memwarden_app;
GRANT SELECT, INSERT, DELETE, UPDATE (body, reply, reply_id, expires_at) ON idempotency
  TO memwarden_app;
GRANT SELECT, INSERT, DELETE ON recalls, jobs TO memwarden_app;
GRANT SELECT, INSERT, DELETE, UPDATE (leased_until) ON outbox TO memwarden_index;
GRANT SELECT (tenant, id, expires_at), DELETE ON recalls TO memwarden_purge;
GRANT SELECT (tenant, key, expires_at), DELETE ON idempotency TO memwarden_purge;
