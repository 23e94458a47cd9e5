-- +goose Up
-- Requests of which nothing came and that cost nothing, in sums by minute: however many somebody
-- sends, they are a row, and push no use out of anybody's list.
CREATE TABLE refusals (
  at       BIGINT NOT NULL, -- when the minute began
  entry    TEXT NOT NULL,
  caller   TEXT NOT NULL,
  owner    TEXT NOT NULL,
  bulk     INTEGER NOT NULL,
  pdf      INTEGER NOT NULL,
  outcome  TEXT NOT NULL,
  requests BIGINT NOT NULL,
  millis   BIGINT NOT NULL, -- of all together
  PRIMARY KEY (owner, at, entry, caller, bulk, pdf, outcome)
);
CREATE INDEX refusals_at ON refusals (at);

INSERT INTO refusals
  SELECT at / 60000000 * 60000000, entry, caller, owner, bulk, pdf, outcome, COUNT(*), SUM(millis)
  FROM usage WHERE outcome <> 'ok' AND charged = 0
  GROUP BY at / 60000000 * 60000000, entry, caller, owner, bulk, pdf, outcome;
DELETE FROM usage WHERE outcome <> 'ok' AND charged = 0;

-- What the statistics count.
CREATE VIEW requests AS
  SELECT at, entry, caller, owner, page_slug, bulk, pdf, outcome, 1 AS requests, charged, millis FROM usage
  UNION ALL
  SELECT at, entry, caller, owner, '', bulk, pdf, outcome, requests, 0, millis FROM refusals;
