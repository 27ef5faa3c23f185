-- One row per project: how far its log goes, how many requests wait, and where its audit chain ends.
CREATE TABLE ledgers (
    project_id TEXT    PRIMARY KEY,
    head       INTEGER NOT NULL,
    pending    INTEGER NOT NULL,
    audit_seq  INTEGER NOT NULL,
    audit_hash TEXT    NOT NULL
) STRICT;
INSERT INTO ledgers (project_id, head, pending, audit_seq, audit_hash)
    SELECT project_id, max(seq), 0, 0, '' FROM events GROUP BY project_id;
UPDATE ledgers SET pending = (SELECT count(*) FROM tool_executions
    WHERE tool_executions.project_id = ledgers.project_id AND status = 'AWAITING_APPROVAL');

-- What was decided and what ran, each row sealed by the hash of all before it.
CREATE TABLE audit (
    project_id TEXT    NOT NULL,
    seq        INTEGER NOT NULL,
    at         TEXT    NOT NULL,
    body       TEXT    NOT NULL,
    hash       TEXT    NOT NULL,
    PRIMARY KEY (project_id, seq)
) STRICT, WITHOUT ROWID;

-- Results that are too long to be read with every look at their call; JSON, so that any text fits.
CREATE TABLE results (
    approval_id TEXT PRIMARY KEY,
    body        TEXT NOT NULL
) STRICT;

-- The servers on this database. One that was fenced counts for nothing, whatever it still thinks.
CREATE TABLE servers (
    id        TEXT    PRIMARY KEY,
    place     TEXT    NOT NULL,
    beat      INTEGER NOT NULL,
    fenced    INTEGER NOT NULL,
    joined_at TEXT    NOT NULL
) STRICT;
-- Who drives a run, and what another driver needs to know to go on with it.
ALTER TABLE runs ADD COLUMN owner TEXT;
ALTER TABLE runs ADD COLUMN stopping INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
-- The server in which a call runs.
ALTER TABLE tool_executions ADD COLUMN owner TEXT;
-- How the answer ended whose message this is: what the message itself does not say.
ALTER TABLE messages ADD COLUMN outcome TEXT;

DROP INDEX tool_executions_status;
CREATE INDEX tool_executions_status ON tool_executions (status);
DROP INDEX tool_executions_project;
CREATE INDEX tool_executions_project ON tool_executions (project_id, created_at, approval_id);
CREATE INDEX tool_executions_waiting ON tool_executions (project_id, created_at, approval_id)
    WHERE status = 'AWAITING_APPROVAL';
CREATE INDEX tool_executions_due ON tool_executions (expires_at)
    WHERE status = 'AWAITING_APPROVAL';
