// The workspaces of the server, and which of them is open. The server has them; we ask again whenever they may be others.
import { create } from "zustand";

import { Refused } from "../../api/client";
import { fetchProject, listProjects } from "../../api/projects";
import type { Project } from "../../api/projects";

/** The workspace that the address names. */
export interface OpenWorkspace {
  /** As the address has it: an id, an older id, or `default`. */
  asked: string;
  /** None where the server knows none by that name. */
  project: Project | null;
}

interface WorkspacesStore {
  projects: readonly Project[];
  /** None until the server has answered. */
  open: OpenWorkspace | null;
  load: (asked: string) => Promise<void>;
}

export const useWorkspaces = create<WorkspacesStore>()((set, get) => {
  let latest = "";
  return {
    projects: [],
    open: null,
    async load(asked) {
      latest = asked;
      if (get().open?.asked !== asked) set({ open: null });
      try {
        const projects = await listProjects();
        const project = await named(asked, projects);
        if (latest === asked) set({ projects, open: { asked, project } });
      } catch {
        // The connection says that the server is away; what was known stays.
      }
    },
  };
});

async function named(asked: string, projects: readonly Project[]): Promise<Project | null> {
  const listed = asked === "default" ? projects[0] : projects.find(({ project_id: id }) => id === asked);
  if (listed || asked === "default") return listed ?? null;
  try {
    return await fetchProject(asked);
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}
