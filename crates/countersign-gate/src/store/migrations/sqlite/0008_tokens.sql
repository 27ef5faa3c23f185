-- Tokens: who may do what over the API. Only the hash of the secret is kept.
CREATE TABLE tokens (
    id         TEXT PRIMARY KEY,
    hash       TEXT NOT NULL UNIQUE,
    role       TEXT NOT NULL,
    name       TEXT NOT NULL,
    created_at TEXT NOT NULL,
    revoked_at TEXT
) STRICT;

-- The key by which the servers of this database prove who they are: one row.
CREATE TABLE server_keys (
    id         TEXT PRIMARY KEY,
    secret     TEXT NOT NULL,
    public     TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

-- A sign-in has two secrets, a cookie and one that only the page's own origin can read. Those of before had one:
-- they end here.
DELETE FROM sign_ins;
ALTER TABLE sign_ins ADD COLUMN page_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE sign_ins ADD COLUMN role TEXT NOT NULL DEFAULT 'viewer';
ALTER TABLE sign_ins ADD COLUMN token_id TEXT;

-- Whose token a call was handed in with.
ALTER TABLE tool_executions ADD COLUMN submitted_by TEXT;
