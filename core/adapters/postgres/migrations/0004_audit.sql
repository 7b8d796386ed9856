-- The audit log. Rows are only ever added; the sealer gives each its place once.

CREATE TABLE IF NOT EXISTS audit_events (
  tenant         uuid NOT NULL,
  event_id       uuid NOT NULL,
  at             timestamptz NOT NULL,
  actor          text NOT NULL,
  on_behalf_of   text,
  action         text NOT NULL,
  object         text NOT NULL,
  decision       text NOT NULL,
  rule           text NOT NULL,
  policy_version text NOT NULL,
  outcome        text NOT NULL,
  count          integer NOT NULL,
  request_id     text NOT NULL,
  trace_id       text NOT NULL,
  writer         uuid NOT NULL,
  number         bigint NOT NULL CHECK (number >= 1),
  digest         bytea NOT NULL CHECK (octet_length(digest) = 32),
  mac            bytea NOT NULL CHECK (octet_length(mac) = 32),
  sequence       bigint CHECK (sequence >= 1),
  prev           bytea CHECK (octet_length(prev) = 32),
  hash           bytea CHECK (octet_length(hash) = 32),
  aside          boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant, event_id),
  -- Over all tenants: a writer serves many, and a number is used once.
  UNIQUE (writer, number),
  CONSTRAINT audit_events_placed_whole CHECK (
    (sequence IS NULL) = (prev IS NULL) AND (sequence IS NULL) = (hash IS NULL)
    AND NOT (aside AND sequence IS NOT NULL)),
  CONSTRAINT audit_events_bounded CHECK (
    length(actor) <= 200 AND length(on_behalf_of) <= 200 AND length(action) <= 100
    AND length(object) <= 200 AND length(decision) <= 20 AND length(rule) <= 500
    AND length(policy_version) <= 200 AND length(outcome) <= 100 AND length(request_id) <= 200
    AND length(trace_id) <= 64)
);
CREATE UNIQUE INDEX IF NOT EXISTS audit_events_in_order ON audit_events (tenant, sequence)
  WHERE sequence IS NOT NULL;
CREATE INDEX IF NOT EXISTS audit_events_newest ON audit_events (tenant, at DESC, event_id DESC);
CREATE INDEX IF NOT EXISTS audit_events_waiting ON audit_events (writer, number)
  WHERE sequence IS NULL AND NOT aside;

CREATE TABLE IF NOT EXISTS audit_checkpoints (
  tenant    uuid NOT NULL,
  size      bigint NOT NULL CHECK (size >= 1),
  head      bytea NOT NULL CHECK (octet_length(head) = 32),
  at        timestamptz NOT NULL,
  key_id    text NOT NULL CHECK (length(key_id) <= 64),
  signature bytea NOT NULL CHECK (octet_length(signature) <= 256),
  PRIMARY KEY (tenant, size)
);

-- How far each writing process has come.
CREATE TABLE IF NOT EXISTS audit_writers (
  writer uuid PRIMARY KEY,
  cursor bigint NOT NULL
);

DO $$
DECLARE
  t constant text := wall_tenant();
  auditing constant text := $p$(SELECT current_setting('app.audit', true)) = 'read'$p$;
  seal constant text := 'memwarden_seal';
BEGIN
  CALL wall('audit_events', 'memwarden_app', 'select', format('%s AND %s', t, auditing));
  CALL wall('audit_events', 'memwarden_app', 'insert',
            format('%s AND sequence IS NULL AND NOT aside', t));
  CALL wall('audit_checkpoints', 'memwarden_app', 'select', format('%s AND %s', t, auditing));
  CALL wall('audit_events', seal, 'select', 'true');
  -- The sealer's own events belong to the system; it cannot speak for a tenant.
  CALL wall('audit_events', seal, 'insert',
            $p$tenant = '00000000-0000-0000-0000-000000000000'$p$);
  CALL wall('audit_events', seal, 'update', 'sequence IS NULL AND NOT aside', 'true');
  CALL wall('audit_checkpoints', seal, 'select', 'true');
  CALL wall('audit_checkpoints', seal, 'insert', 'true');
END $$;

GRANT SELECT, INSERT ON audit_events TO memwarden_app, memwarden_seal;
GRANT UPDATE (sequence, prev, hash, aside) ON audit_events TO memwarden_seal;
GRANT SELECT ON audit_checkpoints TO memwarden_app;
GRANT SELECT, INSERT ON audit_checkpoints TO memwarden_seal;
GRANT SELECT, INSERT, UPDATE ON audit_writers TO memwarden_seal;
