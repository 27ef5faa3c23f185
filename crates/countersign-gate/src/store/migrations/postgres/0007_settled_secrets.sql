-- What a call says in clear, where its own row has a secret masked: until it is settled, and what came
-- of it until its run has told the model.
CREATE TABLE clear_calls (
    approval_id TEXT PRIMARY KEY,
    for_run     TEXT,
    request     TEXT,
    preview     TEXT,
    state       TEXT
);
CREATE INDEX clear_calls_run ON clear_calls (for_run) WHERE for_run IS NOT NULL;
-- What a message says in clear, where its own row has a secret masked: until its run is over.
CREATE TABLE clear_messages (
    project_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    position   BIGINT NOT NULL,
    for_run    TEXT NOT NULL,
    body       TEXT NOT NULL,
    PRIMARY KEY (project_id, session_id, position)
);
CREATE INDEX clear_messages_run ON clear_messages (for_run);
-- Whether the row of a call has a secret masked.
ALTER TABLE tool_executions ADD COLUMN has_secrets BOOLEAN NOT NULL DEFAULT FALSE;
-- How far the rows of before are masked: 0 not yet, 1 masked, 2 and nothing of them is left in the file.
ALTER TABLE ledgers ADD COLUMN masking BIGINT NOT NULL DEFAULT 0;

-- A server of before that still runs would write ids of before.
UPDATE servers SET fenced = TRUE;

-- The id of a project is a uuid; the sixteen digits that it was are in it.
UPDATE projects SET id = substr(id, 1, 8) || '-' || substr(id, 9, 4) || '-8' || substr(id, 13, 3) || '-8'
    || substr(id, 16, 1) || '00-000000000000'
    WHERE id ~ '^[0-9a-f]{16}$';
UPDATE sessions SET project_id = substr(project_id, 1, 8) || '-' || substr(project_id, 9, 4) || '-8' || substr(project_id, 13, 3) || '-8'
    || substr(project_id, 16, 1) || '00-000000000000'
    WHERE project_id ~ '^[0-9a-f]{16}$';
UPDATE runs SET project_id = substr(project_id, 1, 8) || '-' || substr(project_id, 9, 4) || '-8' || substr(project_id, 13, 3) || '-8'
    || substr(project_id, 16, 1) || '00-000000000000'
    WHERE project_id ~ '^[0-9a-f]{16}$';
UPDATE messages SET project_id = substr(project_id, 1, 8) || '-' || substr(project_id, 9, 4) || '-8' || substr(project_id, 13, 3) || '-8'
    || substr(project_id, 16, 1) || '00-000000000000'
    WHERE project_id ~ '^[0-9a-f]{16}$';
UPDATE tool_executions SET project_id = substr(project_id, 1, 8) || '-' || substr(project_id, 9, 4) || '-8' || substr(project_id, 13, 3) || '-8'
    || substr(project_id, 16, 1) || '00-000000000000'
    WHERE project_id ~ '^[0-9a-f]{16}$';
UPDATE events SET project_id = substr(project_id, 1, 8) || '-' || substr(project_id, 9, 4) || '-8' || substr(project_id, 13, 3) || '-8'
    || substr(project_id, 16, 1) || '00-000000000000'
    WHERE project_id ~ '^[0-9a-f]{16}$';
UPDATE rules SET project_id = substr(project_id, 1, 8) || '-' || substr(project_id, 9, 4) || '-8' || substr(project_id, 13, 3) || '-8'
    || substr(project_id, 16, 1) || '00-000000000000'
    WHERE project_id ~ '^[0-9a-f]{16}$';
UPDATE ledgers SET project_id = substr(project_id, 1, 8) || '-' || substr(project_id, 9, 4) || '-8' || substr(project_id, 13, 3) || '-8'
    || substr(project_id, 16, 1) || '00-000000000000'
    WHERE project_id ~ '^[0-9a-f]{16}$';
UPDATE audit SET project_id = substr(project_id, 1, 8) || '-' || substr(project_id, 9, 4) || '-8' || substr(project_id, 13, 3) || '-8'
    || substr(project_id, 16, 1) || '00-000000000000'
    WHERE project_id ~ '^[0-9a-f]{16}$';
UPDATE executors SET project_id = substr(project_id, 1, 8) || '-' || substr(project_id, 9, 4) || '-8' || substr(project_id, 13, 3) || '-8'
    || substr(project_id, 16, 1) || '00-000000000000'
    WHERE project_id ~ '^[0-9a-f]{16}$';
UPDATE changes SET project_id = substr(project_id, 1, 8) || '-' || substr(project_id, 9, 4) || '-8' || substr(project_id, 13, 3) || '-8'
    || substr(project_id, 16, 1) || '00-000000000000'
    WHERE project_id ~ '^[0-9a-f]{16}$';
-- So is that of a user; there is one.
UPDATE tool_executions SET user_id = '00000000-0000-8000-8000-000000000001' WHERE user_id = 'local';
