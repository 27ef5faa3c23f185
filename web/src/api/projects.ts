// The workspaces over REST: what holds in each, and changing it.
import { queryOptions } from "@tanstack/react-query";

import { call } from "./client";
import type { Schemas } from "./message";
import { queryKeys } from "./query-keys";

export type Project = Schemas["ProjectView"];
/** What is left out stays; null goes back to what the server has. */
export type SettingsChange = Schemas["SettingsChange"];

/** What `default` stands for comes first. */
export async function listProjects(): Promise<Project[]> {
  return (await call<Schemas["ProjectList"]>("GET", "/my/projects?limit=1000")).projects;
}

/** Here, not in a feature: the bar and the settings show the same list. */
export const projectListQuery = queryOptions({ queryKey: queryKeys.projectList, queryFn: listProjects });

/** One workspace, by any id it is known by. */
export function fetchProject(projectId: string): Promise<Project> {
  return call<Schemas["OneProject"]>("GET", `/my/projects/${encodeURIComponent(projectId)}`);
}

export function changeSettings(projectId: string, settings: SettingsChange): Promise<Project> {
  return call<Schemas["OneProject"]>("PATCH", `/my/projects/${encodeURIComponent(projectId)}`, { settings });
}
