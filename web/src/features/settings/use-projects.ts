// The workspaces as the server has them. Nothing is assumed: what was changed is what the server answers.
import { useCallback, useEffect, useState } from "react";

import { NotSignedIn } from "../../api/client";
import { changeSettings, listProjects } from "../../api/projects";
import type { Project, SettingsChange } from "../../api/projects";

export interface Projects {
  /** None until they are there. */
  projects: Project[] | null;
  loadError: string | null;
  reload: () => void;
  /** Changes a workspace; returns why it was not changed, or nothing. */
  change: (projectId: string, settings: SettingsChange) => Promise<string | null>;
}

/** `version` changes whenever somebody may have changed something. */
export function useProjects(version: number): Projects {
  const [projects, setProjects] = useState<Project[] | null>(null);
  const [loadError, setLoadError] = useState<string | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    listProjects().then(
      (found) => {
        if (!isCurrent) return;
        setProjects(found);
        setLoadError(null);
      },
      (error: unknown) => isCurrent && setLoadError(messageOf(error)),
    );
    return () => {
      isCurrent = false;
    };
  }, [version, tries]);
  const change = useCallback(async (projectId: string, settings: SettingsChange) => {
    try {
      const next = await changeSettings(projectId, settings);
      setProjects((before) => before?.map((it) => (it.project_id === projectId ? next : it)) ?? null);
      return null;
    } catch (error) {
      return messageOf(error);
    }
  }, []);
  return { projects, loadError, reload: useCallback(() => setTries((before) => before + 1), []), change };
}

function messageOf(error: unknown): string {
  if (error instanceof NotSignedIn) return "you are signed out; open the sign-in link again";
  return error instanceof Error ? error.message : String(error);
}
