-- +goose Up
CREATE TABLE nonces (
  hash TEXT PRIMARY KEY,
  expires_at BIGINT NOT NULL
);
CREATE INDEX nonces_expires_at ON nonces (expires_at);
