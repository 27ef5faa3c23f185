// Ties the socket to the stores: every message goes to each of them, in order, once per frame.
import { useEffect } from "react";
import { create } from "zustand";

import { isSignedIn } from "../api/client";
import { agentSocketUrl, createAgentSocket } from "../api/socket";
import type { AgentSocket, Link, SocketEvent } from "../api/socket";
import { useAgent } from "../features/agent/store";
import { useApprovals } from "../features/approvals/store";
import { createBatch } from "../lib/batch";
import { randomId } from "../lib/random-id";

export const useLink = create<{ link: Link }>()(() => ({ link: "connecting" }));

function deliver(events: SocketEvent[]) {
  useAgent.getState().receive(events);
  useApprovals.getState().receive(events);
  const last = events.findLast((event) => event.type === "link");
  if (last) useLink.setState({ link: last.link });
}

let socket: AgentSocket | null = null;

/** One socket for the life of the page, whichever route is shown. */
function theSocket(): AgentSocket {
  socket ??= createAgentSocket({
    url: agentSocketUrl(window.location),
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
  useEffect(() => {
    const agent = useAgent.getState();
    if (agent.sessionId === routeId) return;
    const sessionId = routeId ?? randomId();
    agent.show(sessionId, routeId === null);
    theSocket().open(sessionId);
  }, [routeId]);
  return theSocket();
}

/** For addresses without a conversation: the socket stays where it is, since requests of every conversation reach it. */
export function useAnyConnection(): AgentSocket {
  useEffect(() => {
    const agent = useAgent.getState();
    if (agent.sessionId !== "") return;
    const sessionId = randomId();
    agent.show(sessionId, true);
    theSocket().open(sessionId);
  }, []);
  return theSocket();
}
