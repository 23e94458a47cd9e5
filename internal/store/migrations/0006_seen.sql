-- +goose Up
-- When somebody last signed up with an address that was never confirmed, or asked to choose a password
-- for it; or when an app last used an anonymous account, to the hour. Of other users it says nothing.
-- It is 0 for those whom a process without this column adds; they are taken to be seen when created.
ALTER TABLE users ADD COLUMN last_seen BIGINT NOT NULL DEFAULT 0;
UPDATE users SET last_seen = created;
CREATE INDEX users_unused ON users (kind, last_seen) WHERE verified = 0 AND bought = 0;
CREATE INDEX customer_tokens_ended ON customer_tokens (ends) WHERE ends > 0;
