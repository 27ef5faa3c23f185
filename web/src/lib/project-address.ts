// The workspace is in the address, as `?project=`, on every page; none means the server's first.
import { useSearchParams } from "wouter";

export const DEFAULT_PROJECT = "default";

export function useProjectId(): string {
  const [params] = useSearchParams();
  return params.get("project")?.trim() || DEFAULT_PROJECT;
}

/** An address of the page, in a workspace. */
export function withProject(href: string, projectId: string): string {
  if (projectId === DEFAULT_PROJECT) return href;
  return `${href}${href.includes("?") ? "&" : "?"}project=${encodeURIComponent(projectId)}`;
}
