// Holds the transcript for the components. All rules are in `transcript-state.ts`.
import { create } from "zustand";

import type { SocketEvent } from "../../api/socket";
import { readStored, writeStored } from "../../lib/stored";
import { emptyTranscript, promptWasLost, reduceTranscript } from "./transcript-state";
import type { Transcript } from "./transcript-state";

interface AgentStore extends Transcript {
  receive: (events: SocketEvent[]) => void;
  /** Turns to another conversation; `isNew` when the page has just chosen its id. */
  show: (sessionId: string, isNew: boolean) => void;
  /** Keeps what is being written; it survives a reload. */
  write: (draft: string) => void;
  /** The prompt has left the box; it stays in `awaiting` until the log has it. */
  sent: (prompt: string) => void;
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
  show: (sessionId, isNew) =>
    set(({ server }) => {
      const next = emptyTranscript(sessionId, isNew, server);
      return { ...next, draft: readStored("sessionStorage", draftKey(next)) ?? "" };
    }),
  write: (draft) =>
    set((state) => {
      writeStored("sessionStorage", draftKey(state), draft);
      return { draft };
    }),
  sent: (prompt) =>
    set((state) => {
      writeStored("sessionStorage", draftKey(state), null);
      return { awaiting: prompt, draft: "", problem: null };
    }),
  dismissProblem: () => set({ problem: null }),
}));

/** Until its first prompt is sent a new conversation has an id that nobody will see again. */
function draftKey({ sessionId, isNew, awaiting }: Transcript): string {
  return `draft.${isNew && awaiting === null ? "new" : sessionId}`;
}
