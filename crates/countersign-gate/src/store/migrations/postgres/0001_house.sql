CREATE TABLE projects (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    root       TEXT NOT NULL UNIQUE,
    created_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE sessions (
    project_id TEXT NOT NULL,
    id         TEXT NOT NULL,
    title      TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (project_id, id)
);
CREATE INDEX sessions_by_update ON sessions (project_id, updated_at DESC, id);

CREATE TABLE runs (
    id         TEXT PRIMARY KEY,
    project_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    status     TEXT NOT NULL,
    -- Who drives it, and what another driver needs to know to go on with it.
    owner      TEXT,
    stopping   BOOLEAN NOT NULL DEFAULT FALSE,
    settings   TEXT NOT NULL DEFAULT '{}',
    created_at TIMESTAMPTZ NOT NULL,
    ended_at   TIMESTAMPTZ
);
-- One conversation has one voice: a second run of a session waits for the first.
CREATE UNIQUE INDEX runs_active ON runs (project_id, session_id) WHERE status = 'RUNNING';

CREATE TABLE messages (
    project_id TEXT   NOT NULL,
    session_id TEXT   NOT NULL,
    position   BIGINT NOT NULL,
    run_id     TEXT   NOT NULL,
    body       TEXT   NOT NULL,
    -- How the answer ended whose message this is: what the message itself does not say.
    outcome    TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (project_id, session_id, position)
);

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
    requires_approval BOOLEAN NOT NULL,
    status            TEXT    NOT NULL,
    error             TEXT,
    error_type        TEXT,
    execution_time_ms BIGINT,
    created_at        TIMESTAMPTZ NOT NULL,
    completed_at      TIMESTAMPTZ,
    approved_at       TIMESTAMPTZ,
    -- What the columns above do not say: never changes after the row is made ...
    run_id            TEXT,
    digest            TEXT    NOT NULL,
    request           TEXT    NOT NULL,
    preview           TEXT,
    -- ... and what does.
    expires_at        TIMESTAMPTZ,
    state             TEXT    NOT NULL,
    -- The server in which it runs.
    owner             TEXT
);
CREATE INDEX tool_executions_user ON tool_executions (user_id);
CREATE INDEX tool_executions_project ON tool_executions (project_id, created_at, approval_id);
CREATE INDEX tool_executions_tool ON tool_executions (tool_name);
CREATE INDEX tool_executions_status ON tool_executions (status);
CREATE INDEX tool_executions_created ON tool_executions (created_at);
CREATE INDEX tool_executions_run ON tool_executions (run_id);
CREATE INDEX tool_executions_waiting ON tool_executions (project_id, created_at, approval_id)
    WHERE status = 'AWAITING_APPROVAL';
CREATE INDEX tool_executions_due ON tool_executions (expires_at)
    WHERE status = 'AWAITING_APPROVAL';

CREATE TABLE events (
    project_id TEXT   NOT NULL,
    seq        BIGINT NOT NULL,
    session_id TEXT,
    run_id     TEXT,
    at         TIMESTAMPTZ NOT NULL,
    body       TEXT   NOT NULL,
    PRIMARY KEY (project_id, seq)
);
CREATE INDEX events_by_session ON events (project_id, session_id, seq);

CREATE TABLE sign_ins (
    hash       TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);

-- What people have said beforehand, for a project or (with a session) for one conversation.
CREATE TABLE rules (
    id           TEXT PRIMARY KEY,
    project_id   TEXT   NOT NULL,
    session_id   TEXT,
    -- As people have put them: the order means nothing to a verdict.
    position     BIGINT NOT NULL,
    effect       TEXT   NOT NULL,
    rule         TEXT   NOT NULL,
    why          TEXT,
    origin_kind  TEXT   NOT NULL,
    approval_id  TEXT,
    created_by   TEXT   NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    expires_at   TIMESTAMPTZ,
    uses         BIGINT NOT NULL DEFAULT 0,
    last_used_at TIMESTAMPTZ,
    -- A rule that no longer holds stays, so that what it once allowed can be explained.
    revoked_at   TIMESTAMPTZ
);
CREATE INDEX rules_that_hold ON rules (project_id, session_id, position) WHERE revoked_at IS NULL;

-- The whole text of diffs that are too long to go with their request: the rest is one request away.
CREATE TABLE diffs (
    approval_id TEXT   NOT NULL,
    file        BIGINT NOT NULL,
    body        TEXT   NOT NULL,
    PRIMARY KEY (approval_id, file)
);

-- One row per project: how far its log goes, how many requests wait, and where its audit chain ends.
CREATE TABLE ledgers (
    project_id TEXT   PRIMARY KEY,
    head       BIGINT NOT NULL,
    pending    BIGINT NOT NULL,
    audit_seq  BIGINT NOT NULL,
    audit_hash TEXT   NOT NULL
);

-- What was decided and what ran, each row sealed by the hash of all before it.
CREATE TABLE audit (
    project_id TEXT   NOT NULL,
    seq        BIGINT NOT NULL,
    at         TIMESTAMPTZ NOT NULL,
    body       TEXT   NOT NULL,
    hash       TEXT   NOT NULL,
    PRIMARY KEY (project_id, seq)
);

-- Results that are too long to be read with every look at their call; JSON, so that any text fits.
CREATE TABLE results (
    approval_id TEXT PRIMARY KEY,
    body        TEXT NOT NULL
);

-- The servers on this database. One that was fenced counts for nothing, whatever it still thinks.
CREATE TABLE servers (
    id        TEXT    PRIMARY KEY,
    place     TEXT    NOT NULL,
    beat      BIGINT  NOT NULL,
    fenced    BOOLEAN NOT NULL,
    joined_at TIMESTAMPTZ NOT NULL
);
