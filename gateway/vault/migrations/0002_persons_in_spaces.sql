-- In a space whose members are people each memory is sealed under a key of (space, person), so that
-- erasing one person leaves the others' memories. The nil person is the space itself, and every owner
-- that is a person. Every statement may run again.

ALTER TABLE owner_keys ADD COLUMN IF NOT EXISTS person uuid NOT NULL
    DEFAULT '00000000-0000-0000-0000-000000000000';

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_index i
                    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
                   WHERE i.indrelid = 'owner_keys'::regclass AND i.indisprimary
                     AND a.attname = 'person') THEN
        ALTER TABLE owner_keys DROP CONSTRAINT owner_keys_pkey,
                               ADD PRIMARY KEY (tenant, owner, is_space, person, version);
    END IF;
END $$;

DROP INDEX IF EXISTS owner_keys_current;
CREATE UNIQUE INDEX IF NOT EXISTS owner_keys_current_of_person
    ON owner_keys (tenant, owner, is_space, person) WHERE state IN ('active', 'held');
