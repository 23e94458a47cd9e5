-- +goose Up
CREATE TABLE users (
  id       TEXT PRIMARY KEY,
  kind     TEXT NOT NULL,            -- registered, anonymous
  email    TEXT UNIQUE,              -- lower case; NULL: none
  device   TEXT UNIQUE,              -- keyed hash; NULL: none
  password TEXT NOT NULL DEFAULT '', -- argon2id; empty: none
  role     TEXT NOT NULL DEFAULT '', -- operator
  verified INTEGER NOT NULL DEFAULT 0,
  bought   INTEGER NOT NULL DEFAULT 0,
  created  BIGINT NOT NULL
);

CREATE TABLE sessions (
  hash    TEXT PRIMARY KEY, -- SHA-256 of the token
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created BIGINT NOT NULL,
  seen    BIGINT NOT NULL
);
CREATE INDEX sessions_user ON sessions (user_id);

CREATE TABLE one_time_tokens (
  hash     TEXT PRIMARY KEY, -- SHA-256 of the token
  purpose  TEXT NOT NULL,    -- verify, reset
  user_id  TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  password TEXT NOT NULL,    -- what verifying makes the user's password
  expires  BIGINT NOT NULL
);
CREATE INDEX one_time_tokens_user ON one_time_tokens (user_id);

CREATE TABLE identities (
  issuer  TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  linked  BIGINT NOT NULL,
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_user ON identities (user_id);

CREATE TABLE customers (
  id       TEXT PRIMARY KEY,
  slug     TEXT NOT NULL UNIQUE,
  app_code TEXT NOT NULL UNIQUE,
  email    TEXT NOT NULL,
  name     TEXT NOT NULL,
  created  BIGINT NOT NULL,
  revoked  BIGINT NOT NULL DEFAULT 0 -- 0: not
);
-- An address has one customer at a time; one that was revoked is never revived by a purchase.
CREATE UNIQUE INDEX customers_email ON customers (email) WHERE revoked = 0;

CREATE TABLE customer_purchases (
  reference   TEXT PRIMARY KEY,
  customer_id TEXT NOT NULL REFERENCES customers (id) ON DELETE CASCADE
);

CREATE TABLE customer_tokens (
  id          TEXT PRIMARY KEY,
  hash        TEXT NOT NULL UNIQUE, -- SHA-256 of the token
  customer_id TEXT NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
  created     BIGINT NOT NULL,
  ends        BIGINT NOT NULL DEFAULT 0 -- 0: never
);
CREATE INDEX customer_tokens_customer ON customer_tokens (customer_id);
