// Ties the socket to the stores and to the query cache: every message goes to each of them, in order, once per frame.
import { useEffect } from "react";
import { create } from "zustand";

import { isSignedIn } from "../api/client";
import { createCacheUpdater } from "../api/events";
import { queryClient } from "../api/query-client";
import { agentSocketUrl, createAgentSocket } from "../api/socket";
import type { AgentSocket, Link, SocketEvent } from "../api/socket";
import { useAgent } from "../features/agent/store";
import { useApprovals } from "../features/approvals/store";
import { createBatch } from "../lib/batch";
import { useProjectId } from "../lib/project-address";
import { randomId } from "../lib/random-id";

interface LinkState {
  link: Link;
  /** Why a message of this connection could not be read; none while all could. */
  problem: string | null;
}

export const useLink = create<LinkState>()(() => ({ link: "connecting", problem: null }));

const updateCache = createCacheUpdater(queryClient);

function deliver(events: SocketEvent[]) {
  useAgent.getState().receive(events);
  useApprovals.getState().receive(events);
  updateCache(events);
  const last = events.findLast((event) => event.type === "link");
  if (last) useLink.setState({ link: last.link });
}

let socket: AgentSocket | null = null;

/** One socket for the life of the page, whichever route is shown. */
function theSocket(): AgentSocket {
  socket ??= createAgentSocket({
    urlOf: (projectId) => agentSocketUrl(window.location, projectId),
    onEvent: createBatch(deliver),
    onProblem: (problem) => useLink.setState({ problem }),
    isSignedIn,
  });
  return socket;
}

/**
 * Keeps the socket on the conversation in the address. An address without one means a new conversation: the page
 * chooses its id and follows it from the start; it gets into the address with its first prompt.
 */
export function useConnection(routeId: string | null): AgentSocket {
  const projectId = useProjectId();
  useEffect(() => {
    const { sessionId, projectId: openProject } = useAgent.getState();
    if (sessionId !== routeId || openProject !== projectId) follow(projectId, routeId);
  }, [routeId, projectId]);
  return theSocket();
}

/** For addresses without a conversation: the socket stays where it is, since requests of every conversation and workspace reach it. */
export function useAnyConnection(): AgentSocket {
  const projectId = useProjectId();
  useEffect(() => {
    const { sessionId, projectId: openProject } = useAgent.getState();
    if (sessionId === "" || openProject !== projectId) follow(projectId, null);
  }, [projectId]);
  return theSocket();
}

/** Turns to a conversation of a workspace; to a new one where the address names none. */
function follow(projectId: string, routeId: string | null) {
  const sessionId = routeId ?? randomId();
  useAgent.getState().show(projectId, sessionId, routeId === null);
  useLink.setState({ problem: null });
  theSocket().open(sessionId, projectId);
}
