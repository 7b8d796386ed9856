-- Wrapped keys, apart from what they seal. Every statement may run again.
-- A row of a destroyed key stays, without a byte of it: it keeps the version from being made again.

CREATE TABLE IF NOT EXISTS tenant_keys (
    tenant      uuid        NOT NULL,
    version     integer     NOT NULL CHECK (version >= 1),
    wrapped     bytea,
    kek_id      text        NOT NULL,
    epoch_id    integer     NOT NULL CHECK (epoch_id >= 1),
    state       text        NOT NULL CHECK (state IN ('active', 'decrypt_only', 'held', 'destroyed')),
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, version),
    CHECK ((state = 'destroyed') = (wrapped IS NULL))
);
-- One version seals; a hold keeps it from being destroyed, not from sealing.
CREATE UNIQUE INDEX IF NOT EXISTS tenant_keys_current
    ON tenant_keys (tenant) WHERE state IN ('active', 'held');

CREATE TABLE IF NOT EXISTS owner_keys (
    tenant          uuid        NOT NULL,
    owner           uuid        NOT NULL,
    is_space        boolean     NOT NULL,
    version         integer     NOT NULL CHECK (version >= 1),
    wrapped         bytea,
    tenant_version  integer     NOT NULL CHECK (tenant_version >= 1),
    epoch_id        integer     NOT NULL CHECK (epoch_id >= 1),
    op_count        bigint      NOT NULL DEFAULT 0 CHECK (op_count >= 0),
    state           text        NOT NULL CHECK (state IN ('active', 'decrypt_only', 'held', 'destroyed')),
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, owner, is_space, version),
    CHECK ((state = 'destroyed') = (wrapped IS NULL))
);
CREATE UNIQUE INDEX IF NOT EXISTS owner_keys_current
    ON owner_keys (tenant, owner, is_space) WHERE state IN ('active', 'held');

CREATE TABLE IF NOT EXISTS peppers (
    version     integer     PRIMARY KEY CHECK (version >= 1),
    wrapped     bytea       NOT NULL,
    kek_id      text        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS service_keys (
    name        text        NOT NULL,
    version     integer     NOT NULL CHECK (version >= 1),
    wrapped     bytea       NOT NULL,
    kek_id      text        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (name, version)
);
