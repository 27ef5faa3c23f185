// Holds the transcript for the components. All rules are in `transcript-state.ts`.
import { create } from "zustand";

import type { PermissionMode } from "../../api/message";
import type { SocketEvent } from "../../api/socket";
import { readStored, writeStored } from "../../lib/stored";
import { emptyTranscript, promptWasLost, reduceTranscript } from "./transcript-state";
import type { Transcript } from "./transcript-state";

interface AgentStore extends Transcript {
  receive: (events: SocketEvent[]) => void;
  /** Turns to another conversation; `isNew` when the page has just chosen its id. */
  show: (projectId: string, sessionId: string, isNew: boolean) => void;
  /** Keeps what is being written; it survives a reload. */
  write: (draft: string) => void;
  /** The prompt has left the box; it stays in `awaiting` until the log has it. */
  sent: (prompt: string) => void;
  /** The mode of this conversation's runs, from now on. */
  chooseMode: (mode: PermissionMode) => void;
  dismissProblem: () => void;
}

export const useAgent = create<AgentStore>()((set) => ({
  ...emptyTranscript(""),
  receive: (events) =>
    set((state) => {
      const next = reduceTranscript(state, events);
      // `live` comes only after a reconnect: whatever was still on its way then did not make it.
      const isBack = events.some((event) => event.type === "link" && event.link === "live");
      return state.awaiting !== null && isBack ? promptWasLost(next) : next;
    }),
  show: (projectId, sessionId, isNew) =>
    set((before) => {
      const server = before.projectId === projectId ? before.server : null;
      const next = emptyTranscript(sessionId, isNew, server, projectId);
      return { ...next, draft: readStored("sessionStorage", draftKey(next)) ?? "", chosenMode: storedMode(next) };
    }),
  write: (draft) =>
    set((state) => {
      writeStored("sessionStorage", draftKey(state), draft);
      return { draft };
    }),
  sent: (prompt) =>
    set((state) => {
      writeStored("sessionStorage", draftKey(state), null);
      writeStored("sessionStorage", modeKey(state), null);
      // A choice for this conversation is one after a reload, too.
      writeStored("sessionStorage", `mode.${state.sessionId}`, state.chosenMode);
      return { awaiting: prompt, draft: "", problem: null };
    }),
  chooseMode: (chosenMode) =>
    set((state) => {
      writeStored("sessionStorage", modeKey(state), chosenMode);
      return { chosenMode };
    }),
  dismissProblem: () => set({ problem: null }),
}));

/** Until its first prompt is sent a new conversation has an id that nobody will see again. */
function keyOf({ projectId, sessionId, isNew, awaiting }: Transcript): string {
  return isNew && awaiting === null ? `new.${projectId}` : sessionId;
}

const draftKey = (state: Transcript) => `draft.${keyOf(state)}`;
const modeKey = (state: Transcript) => `mode.${keyOf(state)}`;

function storedMode(state: Transcript): PermissionMode | null {
  const stored = readStored("sessionStorage", modeKey(state));
  return stored === "sdk" || stored === "toolApproval" || stored === "bypassPermissions" ? stored : null;
}
