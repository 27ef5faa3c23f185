-- What people have said beforehand, for a project or (with a session) for one conversation.
CREATE TABLE rules (
    id           TEXT PRIMARY KEY,
    project_id   TEXT    NOT NULL,
    session_id   TEXT,
    -- As people have put them: the order means nothing to a verdict.
    position     INTEGER NOT NULL,
    effect       TEXT    NOT NULL,
    rule         TEXT    NOT NULL,
    why          TEXT,
    origin_kind  TEXT    NOT NULL,
    approval_id  TEXT,
    created_by   TEXT    NOT NULL,
    created_at   TEXT    NOT NULL,
    expires_at   TEXT,
    uses         INTEGER NOT NULL DEFAULT 0,
    last_used_at TEXT,
    -- A rule that no longer holds stays, so that what it once allowed can be explained.
    revoked_at   TEXT
) STRICT;
CREATE INDEX rules_that_hold ON rules (project_id, session_id, position) WHERE revoked_at IS NULL;
