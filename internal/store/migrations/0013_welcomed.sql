-- +goose Up
-- For whom a person has had first credits. It outlives the account, and only the service, with its
-- secret, knows a person again.
CREATE TABLE welcomed (
  person  TEXT PRIMARY KEY, -- keyed hash of an e-mail address, or of an identity without one
  user_id TEXT NOT NULL
);

-- How many anonymous accounts came from a network in a day.
CREATE TABLE arrivals (
  network  TEXT NOT NULL, -- keyed hash of a network address
  day      BIGINT NOT NULL, -- when it began, in UTC
  accounts INTEGER NOT NULL,
  PRIMARY KEY (network, day)
);
