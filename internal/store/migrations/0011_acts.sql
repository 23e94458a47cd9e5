-- +goose Up
-- What operators did to others' accounts. Rows are only ever added. They name users, customers and
-- packages without referring to them: whoever is deleted stays named.
CREATE TABLE acts (
  id      TEXT PRIMARY KEY, -- sorts by time
  at      BIGINT NOT NULL,
  actor   TEXT NOT NULL,    -- user:ID, or command line
  kind    TEXT NOT NULL,
  target  TEXT NOT NULL,    -- user:ID or customer:ID; empty: nobody who is known
  object  TEXT NOT NULL,    -- the package's source, the token's id, the role or the plan
  credits BIGINT NOT NULL,  -- given; below 0: taken back
  reason  TEXT NOT NULL
);
