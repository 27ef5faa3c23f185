// The workspaces as the server has them. Nothing is assumed: what was changed is what the server answers.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { describeError } from "../../api/client";
import { changeSettings, projectListQuery } from "../../api/projects";
import type { Project, SettingsChange } from "../../api/projects";

export interface Projects {
  /** None until they are there. */
  projects: readonly Project[] | null;
  loadError: string | null;
  reload: () => void;
}

export function useProjects(): Projects {
  const { data, error, refetch } = useQuery(projectListQuery);
  return { projects: data ?? null, loadError: error && describeError(error), reload: () => void refetch() };
}

/** Changes the settings of one workspace. */
export function useChangeSettings(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (settings: SettingsChange) => changeSettings(projectId, settings),
    onSuccess: async (next) => {
      await client.cancelQueries({ queryKey: projectListQuery.queryKey });
      // The answer is the workspace as it now is. The stream tells the other pages.
      client.setQueryData(projectListQuery.queryKey, (before) => before?.map((it) => (it.project_id === projectId ? next : it)));
    },
  });
}
