-- The values behind placeholders: one row a word of one version of a memory, kept and removed with
-- it, so that none is left when the last memory that holds a word is forgotten.

CREATE TABLE IF NOT EXISTS pseudonyms (
  tenant     uuid NOT NULL,
  user_id    uuid NOT NULL,
  namespace  uuid NOT NULL,
  space      uuid,
  memory     uuid NOT NULL,
  version    integer NOT NULL CHECK (version >= 1),
  token      bytea NOT NULL CHECK (octet_length(token) = 10),
  sealed     bytea NOT NULL CHECK (octet_length(sealed) <= 262144),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, memory, version, token)
);
CREATE INDEX IF NOT EXISTS pseudonyms_by_token ON pseudonyms (tenant, user_id, token);
ALTER TABLE pseudonyms ALTER COLUMN sealed SET STORAGE EXTERNAL;

DO $$
DECLARE
  t constant text := wall_tenant();
  app constant text := 'memwarden_app';
BEGIN
  -- A recall, a read and a list see no value, whatever they ask for. A write sees those that a new
  -- version takes over.
  CALL wall('pseudonyms', app, 'select', format('%s AND (%s AND %s OR %s)', t,
            wall_action('write', 'reveal'), wall_scope('read'), wall_action('erase')));
  CALL wall('pseudonyms', app, 'insert', format('%s AND %s AND %s', t, wall_action('write'),
                                                wall_scope('write')));
  CALL wall('pseudonyms', app, 'delete', format('%s AND (%s AND %s OR %s)', t,
            wall_action('write'), wall_scope('write'), wall_action('erase')));
END $$;

GRANT SELECT, INSERT, DELETE ON pseudonyms TO memwarden_app;
