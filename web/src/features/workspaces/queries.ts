// The workspaces of the server, and which of them the address names.
import { useQuery } from "@tanstack/react-query";

import { Refused } from "../../api/client";
import { fetchProject, projectListQuery } from "../../api/projects";
import type { Project } from "../../api/projects";
import { queryKeys } from "../../api/query-keys";
import { useProjectId } from "../../lib/project-address";

/** The workspace that the address names. */
export interface OpenWorkspace {
  /** As the address has it: an id, an older id, or `default`. */
  asked: string;
  /** None where the server knows none by that name. */
  project: Project | null;
}

export interface Workspaces {
  projects: readonly Project[];
  /** None until the server has answered. While the server is away, what was known stays. */
  open: OpenWorkspace | null;
}

const NO_PROJECTS: readonly Project[] = [];

export function useWorkspaces(): Workspaces {
  const asked = useProjectId();
  const { data: projects } = useQuery(projectListQuery);
  const listed = projects && findListed(projects, asked);
  const isUnlisted = projects !== undefined && listed === undefined && asked !== "default";
  const { data: named } = useQuery({
    queryKey: queryKeys.projectNamed(asked),
    queryFn: () => fetchNamedProject(asked),
    enabled: isUnlisted,
  });
  const project = isUnlisted ? named : (listed ?? null);
  const isAnswered = projects !== undefined && project !== undefined;
  return { projects: projects ?? NO_PROJECTS, open: isAnswered ? { asked, project } : null };
}

function findListed(projects: readonly Project[], asked: string): Project | undefined {
  return asked === "default" ? projects[0] : projects.find(({ project_id: id }) => id === asked);
}

async function fetchNamedProject(name: string): Promise<Project | null> {
  try {
    return await fetchProject(name);
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

/** What people call the open workspace; none until the server has said so. */
export function useWorkspaceName(): string | null {
  return useWorkspaces().open?.project?.name ?? null;
}
