-- +goose Up
-- PDFs that customers had cleaned by the API. What they hold is sealed, and all of it goes together.
CREATE TABLE pdf_jobs (
  id        TEXT PRIMARY KEY,
  owner     TEXT NOT NULL,
  job_key   TEXT, -- the caller's Idempotency-Key, if any
  body      TEXT NOT NULL, -- hash of what was sent with it
  options   TEXT NOT NULL, -- JSON
  state     TEXT NOT NULL CHECK (state IN ('waiting', 'working', 'done', 'partial', 'failed')),
  code      INTEGER NOT NULL, -- why it failed or is partial; 0 otherwise
  message   TEXT NOT NULL,
  bytes     BIGINT NOT NULL, -- of the finished file; 0 where there is none
  created   BIGINT NOT NULL,
  finished  BIGINT NOT NULL,
  expires   BIGINT NOT NULL,
  served    BIGINT NOT NULL, -- when it was last taken up
  holder    TEXT NOT NULL, -- who works on it, as long as the lease lasts
  lease     BIGINT NOT NULL,
  hook      TEXT NOT NULL, -- address that is told of the end; empty for none
  secret    BYTEA NOT NULL, -- that it is signed with, sealed
  hook_due  BIGINT NOT NULL, -- 0 while there is nothing to tell, and when it was told
  hook_tries INTEGER NOT NULL,
  UNIQUE (owner, job_key)
);
CREATE INDEX pdf_jobs_state ON pdf_jobs (state, lease);
CREATE INDEX pdf_jobs_expires ON pdf_jobs (expires);
CREATE INDEX pdf_jobs_hook ON pdf_jobs (hook_due);

CREATE TABLE pdf_pages (
  job     TEXT NOT NULL REFERENCES pdf_jobs (id) ON DELETE CASCADE,
  number  INTEGER NOT NULL, -- in the document, from 1
  state   TEXT NOT NULL CHECK (state IN ('waiting', 'cleaned', 'kept', 'failed')),
  tries   INTEGER NOT NULL,
  hold    TEXT NOT NULL, -- the credit that is held for it; empty for none
  charged INTEGER NOT NULL,
  marks   INTEGER NOT NULL, -- annotations and strokes that were taken off it
  code    INTEGER NOT NULL,
  message TEXT NOT NULL,
  place   TEXT NOT NULL, -- JSON: how its picture stands in the file
  PRIMARY KEY (job, number)
);

-- The document that came is part 0, the finished one part -1, a page's picture has its number.
CREATE TABLE pdf_pieces (
  job   TEXT NOT NULL REFERENCES pdf_jobs (id) ON DELETE CASCADE,
  part  INTEGER NOT NULL,
  piece INTEGER NOT NULL,
  data  BYTEA NOT NULL, -- sealed
  PRIMARY KEY (job, part, piece)
);
