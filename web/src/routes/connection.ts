// Ties the socket to the stores: every message goes to each of them, in order, once per frame.
import { useEffect } from "react";
import { create } from "zustand";

import { isSignedIn } from "../api/client";
import { agentSocketUrl, createAgentSocket } from "../api/socket";
import type { AgentSocket, Link, SocketEvent } from "../api/socket";
import { useAgent } from "../features/agent/store";
import { useApprovals } from "../features/approvals/store";
import { createBatch } from "../lib/batch";
import { useProjectId } from "../lib/project-address";
import { randomId } from "../lib/random-id";

interface LinkState {
  link: Link;
  /** Counts the bursts of messages after which the calls, as the server has them, may be others. */
  changes: number;
  /** The same for what is settled in the project. */
  settings: number;
}

export const useLink = create<LinkState>()(() => ({ link: "connecting", changes: 0, settings: 0 }));

function deliver(events: SocketEvent[]) {
  useAgent.getState().receive(events);
  useApprovals.getState().receive(events);
  const last = events.findLast((event) => event.type === "link");
  if (last) useLink.setState({ link: last.link });
  if (events.some(tellsOfCalls)) useLink.setState(({ changes }) => ({ changes: changes + 1 }));
  if (events.some(tellsOfSettings)) useLink.setState(({ settings }) => ({ settings: settings + 1 }));
}

/** What was changed while we were away is not told again. */
function tellsOfSettings(event: SocketEvent): boolean {
  if (event.type === "link") return event.link === "live";
  return event.type === "system" && event.subtype === "settings";
}

function tellsOfCalls(event: SocketEvent): boolean {
  switch (event.type) {
    case "tool_approval_request":
    case "tool_approval_resolved":
    case "tool_state":
    case "result":
      return true;
    case "user":
      return event.subtype === "tool_result";
    case "link":
      return event.link === "live";
    default:
      return false;
  }
}

let socket: AgentSocket | null = null;

/** One socket for the life of the page, whichever route is shown. */
function theSocket(): AgentSocket {
  socket ??= createAgentSocket({
    urlOf: (projectId) => agentSocketUrl(window.location, projectId),
    onEvent: createBatch(deliver),
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
  theSocket().open(sessionId, projectId);
}
