-- Who runs a call, and the agent's own id of it: handed in twice, it is one call.
ALTER TABLE tool_executions ADD COLUMN executor TEXT NOT NULL DEFAULT 'local';
ALTER TABLE tool_executions ADD COLUMN tool_use_id TEXT;
-- Who has it, where it runs elsewhere, and until when somebody may decide, come or report.
ALTER TABLE tool_executions ADD COLUMN holder TEXT;
ALTER TABLE tool_executions ADD COLUMN lapses_at TIMESTAMPTZ;
UPDATE tool_executions SET lapses_at = expires_at WHERE status = 'AWAITING_APPROVAL';

DROP INDEX tool_executions_due;
CREATE INDEX tool_executions_due ON tool_executions (lapses_at) WHERE lapses_at IS NOT NULL;
CREATE INDEX tool_executions_elsewhere ON tool_executions (project_id, status)
    WHERE executor <> 'local';
CREATE INDEX tool_executions_tool_use ON tool_executions (project_id, session_id, tool_use_id)
    WHERE executor = 'caller';

-- The client that runs the calls of a project, of all that are connected to any server.
CREATE TABLE executors (
    project_id TEXT PRIMARY KEY,
    client_id  TEXT NOT NULL,
    stream_id  TEXT NOT NULL,
    server_id  TEXT NOT NULL,
    since      TIMESTAMPTZ NOT NULL
);
