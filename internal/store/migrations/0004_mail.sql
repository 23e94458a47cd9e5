-- +goose Up
CREATE TABLE mails (
  id        TEXT PRIMARY KEY,
  mail_key  TEXT NOT NULL UNIQUE,
  kind      TEXT NOT NULL,
  recipient TEXT NOT NULL,
  subject   TEXT NOT NULL, -- blank once it is sent, like the bodies
  body_text TEXT NOT NULL,
  body_html TEXT NOT NULL,
  state     TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'dead')),
  attempts  INTEGER NOT NULL,
  created   BIGINT NOT NULL,
  due       BIGINT NOT NULL,
  deadline  BIGINT NOT NULL,
  finished  BIGINT NOT NULL,
  error     TEXT NOT NULL
);
CREATE INDEX mails_due ON mails (state, due);
CREATE INDEX mails_finished ON mails (state, finished);
