-- +goose Up
-- What a session was opened with, such as "Firefox · Linux"; empty: not known.
ALTER TABLE sessions ADD COLUMN agent TEXT NOT NULL DEFAULT '';

-- What was paid, in hundredths; 0 with an empty currency: an operator's grant.
ALTER TABLE purchases ADD COLUMN cents BIGINT NOT NULL DEFAULT 0;
ALTER TABLE purchases ADD COLUMN currency TEXT NOT NULL DEFAULT '';
CREATE INDEX purchases_created ON purchases (created);
