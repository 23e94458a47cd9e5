-- +goose Up
-- A revocation that comes before its grant leaves a package of 0 credits without an owner, which
-- takes the grant's source.
CREATE TABLE packages (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  plan TEXT NOT NULL,
  source TEXT NOT NULL UNIQUE,
  credits BIGINT NOT NULL CHECK (credits >= 0),
  remaining BIGINT NOT NULL CHECK (remaining >= 0 AND remaining <= credits),
  created BIGINT NOT NULL,
  expires BIGINT NOT NULL,
  revoked BIGINT NOT NULL
);
CREATE INDEX packages_owner ON packages (owner, expires);
CREATE INDEX packages_expires ON packages (expires);

CREATE TABLE ledger (
  id TEXT PRIMARY KEY,
  at BIGINT NOT NULL,
  package_id TEXT NOT NULL REFERENCES packages (id),
  owner TEXT NOT NULL,
  kind TEXT NOT NULL,
  amount BIGINT NOT NULL,
  hold_id TEXT NOT NULL,
  note TEXT NOT NULL,
  CHECK (
    (kind = 'grant' AND amount > 0 AND hold_id = '')
    OR (kind = 'reserve' AND amount = -1 AND hold_id <> '')
    OR (kind = 'settle' AND amount = 0 AND hold_id <> '')
    OR (kind = 'release' AND amount = 1 AND hold_id <> '')
    OR (kind = 'revoke' AND amount <= 0 AND hold_id = '')
  )
);
CREATE INDEX ledger_at ON ledger (at, id);
CREATE INDEX ledger_owner ON ledger (owner, at, id);
CREATE INDEX ledger_package ON ledger (package_id);
CREATE INDEX ledger_hold ON ledger (hold_id);

-- What is held is in the ledger: the entries of kind reserve with the hold's id.
CREATE TABLE holds (
  id TEXT PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('held', 'settled', 'released')),
  lease BIGINT NOT NULL,
  ended BIGINT NOT NULL,
  CHECK ((state = 'held') = (ended = 0))
);
CREATE INDEX holds_open ON holds (ended, lease);

CREATE TABLE hold_keys (
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  body TEXT NOT NULL,
  hold_id TEXT NOT NULL,
  created BIGINT NOT NULL,
  PRIMARY KEY (owner, name)
);
CREATE INDEX hold_keys_created ON hold_keys (created);

CREATE TABLE usage (
  id TEXT PRIMARY KEY,
  at BIGINT NOT NULL,
  entry TEXT NOT NULL,
  caller TEXT NOT NULL,
  owner TEXT NOT NULL,
  page_slug TEXT NOT NULL,
  bulk INTEGER NOT NULL,
  pdf INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  charged BIGINT NOT NULL,
  millis BIGINT NOT NULL
);
CREATE INDEX usage_at ON usage (at);
CREATE INDEX usage_owner ON usage (owner, at);
