-- +goose Up
-- From where somebody logged in before. Only the service, with its secret, knows an address again.
CREATE TABLE places (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  place   TEXT NOT NULL, -- keyed hash of a network address
  seen    BIGINT NOT NULL,
  PRIMARY KEY (user_id, place)
);
CREATE INDEX places_seen ON places (seen);
