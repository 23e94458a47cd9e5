-- +goose Up
-- What ACME gave the service: accounts, keys and certificates, sealed. SQLite takes any name of a type.
CREATE TABLE certificates (
  name     TEXT PRIMARY KEY, -- components with slashes between
  value    BYTEA NOT NULL,
  modified BIGINT NOT NULL
);

CREATE TABLE certificate_locks (
  name    TEXT PRIMARY KEY,
  holder  TEXT NOT NULL,
  expires BIGINT NOT NULL -- unless its holder lives and moves it on
);
