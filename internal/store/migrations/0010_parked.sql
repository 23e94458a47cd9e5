-- +goose Up
-- Payments that cannot be delivered as they are, until an operator has seen to them.
CREATE TABLE parked (
  reference TEXT PRIMARY KEY,
  plan      TEXT NOT NULL,
  email     TEXT NOT NULL,
  user_id   TEXT NOT NULL,
  cents     BIGINT NOT NULL,
  currency  TEXT NOT NULL,
  why       TEXT NOT NULL,
  since     BIGINT NOT NULL
);
