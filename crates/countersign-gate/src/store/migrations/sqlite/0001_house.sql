CREATE TABLE projects (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    root       TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE sessions (
    project_id TEXT NOT NULL,
    id         TEXT NOT NULL,
    title      TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (project_id, id)
) STRICT;
CREATE INDEX sessions_by_update ON sessions (project_id, updated_at DESC, id);

CREATE TABLE runs (
    id         TEXT PRIMARY KEY,
    project_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    status     TEXT NOT NULL,
    created_at TEXT NOT NULL,
    ended_at   TEXT
) STRICT;
-- One conversation has one voice: a second run of a session waits for the first.
CREATE UNIQUE INDEX runs_active ON runs (project_id, session_id) WHERE status = 'RUNNING';

CREATE TABLE messages (
    project_id TEXT    NOT NULL,
    session_id TEXT    NOT NULL,
    position   INTEGER NOT NULL,
    run_id     TEXT    NOT NULL,
    body       TEXT    NOT NULL,
    created_at TEXT    NOT NULL,
    PRIMARY KEY (project_id, session_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_executions (
    id                TEXT PRIMARY KEY,
    user_id           TEXT    NOT NULL,
    project_id        TEXT    NOT NULL,
    session_id        TEXT    NOT NULL,
    approval_id       TEXT    NOT NULL UNIQUE,
    tool_name         TEXT    NOT NULL,
    tool_params       TEXT    NOT NULL,
    result            TEXT,
    risk_level        TEXT    NOT NULL,
    requires_approval INTEGER NOT NULL,
    status            TEXT    NOT NULL,
    error             TEXT,
    error_type        TEXT,
    execution_time_ms INTEGER,
    created_at        TEXT    NOT NULL,
    completed_at      TEXT,
    approved_at       TEXT,
    -- What the columns above do not say: never changes after the row is made ...
    run_id            TEXT,
    digest            TEXT    NOT NULL,
    request           TEXT    NOT NULL,
    preview           TEXT,
    -- ... and what does.
    expires_at        TEXT,
    state             TEXT    NOT NULL
) STRICT;
CREATE INDEX tool_executions_user ON tool_executions (user_id);
CREATE INDEX tool_executions_project ON tool_executions (project_id);
CREATE INDEX tool_executions_tool ON tool_executions (tool_name);
CREATE INDEX tool_executions_status ON tool_executions (status, expires_at);
CREATE INDEX tool_executions_created ON tool_executions (created_at);
CREATE INDEX tool_executions_run ON tool_executions (run_id);

CREATE TABLE events (
    project_id TEXT    NOT NULL,
    seq        INTEGER NOT NULL,
    session_id TEXT,
    run_id     TEXT,
    at         TEXT    NOT NULL,
    body       TEXT    NOT NULL,
    PRIMARY KEY (project_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX events_by_session ON events (project_id, session_id, seq);

CREATE TABLE sign_ins (
    hash       TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
) STRICT;
