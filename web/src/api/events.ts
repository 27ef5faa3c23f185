// From the stream to the query cache: which answers of the server an event makes stale.
import type { QueryClient } from "@tanstack/react-query";

import type { ServerMessage } from "./message";
import type { Project } from "./projects";
import { queryKeys } from "./query-keys";
import type { SocketEvent } from "./socket";

/** The first word of a query key. */
export type CachePart = "sessions" | "projects" | "rules" | "executions";

const ALL_PARTS: readonly CachePart[] = ["sessions", "projects", "rules", "executions"];

/** A burst of messages is one reason to ask again. */
const BURST_MS = 300;

/** Takes the events of the stream; shortly after, the queries on screen that they made stale are asked again. */
export function createCacheUpdater(client: QueryClient): (events: readonly SocketEvent[]) => void {
  const stale = new Set<CachePart>();
  let isLive = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function flush() {
    timer = undefined;
    for (const part of stale) void client.invalidateQueries({ queryKey: [part] });
    stale.clear();
  }

  return (events) => {
    for (const event of events) {
      if (event.type === "link") isLive = event.link === "live";
      // A replay tells what the server has answered already; `live` ends it, and makes everything stale.
      if (isLive) for (const part of stalePartsAfter(event, client.getQueryData(queryKeys.projectList))) stale.add(part);
    }
    if (stale.size > 0) timer ??= setTimeout(flush, BURST_MS);
  };
}

/** The parts of the cache that may be out of date after an event. */
export function stalePartsAfter(event: SocketEvent, projects: readonly Project[] | undefined): readonly CachePart[] {
  switch (event.type) {
    case "link":
      // What was changed while we were away is not told again.
      return event.link === "live" ? ALL_PARTS : [];
    case "system":
      return partsAfterSystem(event.subtype);
    case "tool_approval_request": {
      const isKnown = projects?.some(({ project_id: id }) => id === event.workspace.project_id) ?? false;
      return isKnown ? ["sessions", "executions"] : ["sessions", "executions", "projects"];
    }
    case "tool_approval_resolved":
      // A decision may add a rule.
      return ["sessions", "executions", "rules"];
    case "result":
      return ["sessions", "executions"];
    case "tool_state":
    case "tool_undone":
      return ["executions"];
    case "user":
      return event.subtype === "tool_result" ? ["executions"] : ["sessions"];
    default:
      return [];
  }
}

function partsAfterSystem(subtype: Extract<ServerMessage, { type: "system" }>["subtype"]): readonly CachePart[] {
  if (subtype === "settings") return ["projects"];
  return subtype === "init" || subtype === "run_resumed" ? ["sessions"] : [];
}
