-- Whether the client named itself (it then goes before one that did not), and whether it shows its files.
ALTER TABLE executors ADD COLUMN is_named INTEGER NOT NULL DEFAULT 0;
ALTER TABLE executors ADD COLUMN shows_files INTEGER NOT NULL DEFAULT 0;

-- What the client that would run a call is asked before anybody decides; a row lasts for seconds.
CREATE TABLE client_looks (
    execution_id TEXT PRIMARY KEY,
    project_id   TEXT NOT NULL,
    holder       TEXT NOT NULL,
    call         TEXT NOT NULL,
    answer       TEXT,
    asked_at     TEXT NOT NULL
) STRICT;
