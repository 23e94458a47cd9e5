-- +goose Up
-- A revocation that comes before its purchase leaves a row without a plan.
CREATE TABLE purchases (
  reference TEXT PRIMARY KEY,
  plan      TEXT NOT NULL,
  email     TEXT NOT NULL,
  name      TEXT NOT NULL,
  slug      TEXT NOT NULL,
  user_id   TEXT NOT NULL,
  created   BIGINT NOT NULL,
  attempt   INTEGER NOT NULL,
  lease     BIGINT NOT NULL, -- until when the attempt keeps others away
  customer  TEXT NOT NULL,
  token     TEXT NOT NULL,
  delivered BIGINT NOT NULL, -- 0: not
  revoked   BIGINT NOT NULL, -- 0: not
  why       TEXT NOT NULL
);
CREATE INDEX purchases_unfinished ON purchases (delivered, revoked, created);
CREATE INDEX purchases_customer ON purchases (customer);

CREATE TABLE billing_events (
  id    TEXT PRIMARY KEY,
  heard BIGINT NOT NULL
);
CREATE INDEX billing_events_heard ON billing_events (heard);
