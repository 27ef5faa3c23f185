// The workspaces over REST: what holds in each, and changing it.
import { call } from "./client";
import type { Schemas } from "./message";

export type Project = Schemas["ProjectView"];
/** What is left out stays; null goes back to what the server has. */
export type SettingsChange = Schemas["SettingsChange"];

/** The page's own workspace comes first. */
export async function listProjects(): Promise<Project[]> {
  return (await call<Schemas["ProjectList"]>("GET", "/my/projects?limit=1000")).projects;
}

export function changeSettings(projectId: string, settings: SettingsChange): Promise<Project> {
  return call<Schemas["OneProject"]>("PATCH", `/my/projects/${encodeURIComponent(projectId)}`, { settings });
}
