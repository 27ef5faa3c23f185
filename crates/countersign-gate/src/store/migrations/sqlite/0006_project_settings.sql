-- What a project has of its own; JSON, so that later versions can keep more in it.
ALTER TABLE projects ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
