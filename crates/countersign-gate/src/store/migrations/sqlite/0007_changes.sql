-- What a call did to files: what was there before it, and what it left. Who undid it, if anybody did.
CREATE TABLE changes (
    approval_id TEXT PRIMARY KEY,
    tool_id     TEXT NOT NULL,
    project_id  TEXT NOT NULL,
    session_id  TEXT NOT NULL,
    run_id      TEXT,
    begun_at    TEXT NOT NULL,
    changes     TEXT NOT NULL,
    undone_by   TEXT,
    undone_at   TEXT
) STRICT;
CREATE INDEX changes_tool ON changes (tool_id);
CREATE INDEX changes_run ON changes (run_id) WHERE run_id IS NOT NULL;
