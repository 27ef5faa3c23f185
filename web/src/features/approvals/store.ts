// Holds the queue for the components. All rules are in `queue-state.ts`.
import { create } from "zustand";

import type { SocketEvent } from "../../api/socket";
import type { Answers } from "./answers";
import { approveAllSent, decisionSent, editTo, emptyQueue, moveCurrent, reduceQueue } from "./queue-state";
import type { Decision, Queue, SessionId, Terms } from "./queue-state";

export interface ApprovalStore extends Queue {
  receive: (events: SocketEvent[]) => void;
  select: (requestId: string) => void;
  move: (step: 1 | -1) => void;
  draft: (requestId: string, text: string) => void;
  edit: (requestId: string, text: string | null) => void;
  answer: (requestId: string, answers: Answers) => void;
  sent: (requestId: string, decision: Decision, terms?: Terms) => void;
  sentAll: (sessionId: SessionId) => void;
  minimise: (isMinimised: boolean) => void;
  dismiss: (key: string) => void;
}

export const useApprovals = create<ApprovalStore>()((set) => ({
  ...emptyQueue,
  receive: (events) => set((queue) => reduceQueue(queue, events, Date.now())),
  select: (currentId) => set({ currentId, isMinimised: false }),
  move: (step) => set((queue) => moveCurrent(queue, step)),
  draft: (id, text) => set((queue) => ({ drafts: { ...queue.drafts, [id]: text } })),
  edit: (id, text) => set((queue) => editTo(queue, id, text)),
  answer: (id, answers) => set((queue) => ({ answers: { ...queue.answers, [id]: answers } })),
  sent: (id, decision, terms) => set((queue) => decisionSent(queue, id, decision, terms)),
  sentAll: (sessionId) => set((queue) => approveAllSent(queue, sessionId)),
  minimise: (isMinimised) => set({ isMinimised }),
  dismiss: (key) => set((queue) => ({ notices: queue.notices.filter((notice) => notice.key !== key) })),
}));
