-- The whole text of diffs that are too long to go with their request: the rest is one request away.
CREATE TABLE diffs (
    approval_id TEXT    NOT NULL,
    file        INTEGER NOT NULL,
    body        TEXT    NOT NULL,
    PRIMARY KEY (approval_id, file)
) STRICT;
