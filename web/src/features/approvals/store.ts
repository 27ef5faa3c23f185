// Holds the queue for the components. All rules are in `queue-state.ts`.
import { create } from "zustand";

import type { SocketEvent } from "../../api/socket";
import type { Answers } from "./decision/answers";
import { batchOpened, batchSent } from "./queue/batch-state";
import type { Place } from "./queue/queue-order";
import { decisionSent, editTo, emptyQueue, moveCurrent, placedAt, reduceQueue } from "./queue/queue-state";
import type { Decision, Queue, Terms } from "./queue/queue-state";

export interface ApprovalStore extends Queue {
  receive: (events: SocketEvent[]) => void;
  select: (requestId: string) => void;
  move: (step: 1 | -1) => void;
  draft: (requestId: string, text: string) => void;
  edit: (requestId: string, text: string | null) => void;
  answer: (requestId: string, answers: Answers) => void;
  sent: (requestId: string, decision: Decision, terms?: Terms) => void;
  /** Opens the list of what "approve all" means in a conversation, by `conversationKey`. */
  openBatch: (conversation: string) => void;
  sentBatch: () => void;
  closeBatch: () => void;
  /** Another conversation or workspace is open. */
  standAt: (place: Place) => void;
  hold: (isHeld: boolean) => void;
  /** It was in view to its end. */
  see: (key: string) => void;
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
  openBatch: (conversation) => set((queue) => batchOpened(queue, conversation)),
  sentBatch: () => set(batchSent),
  closeBatch: () => set({ batch: null }),
  standAt: (place) => set((queue) => placedAt(queue, place)),
  hold: (isHeld) => set((queue) => (queue.isHeld === isHeld ? queue : { isHeld })),
  see: (key) => set((queue) => (queue.seen.has(key) ? queue : { seen: new Set(queue.seen).add(key) })),
  minimise: (isMinimised) => set({ isMinimised }),
  dismiss: (key) => set((queue) => ({ notices: queue.notices.filter((notice) => notice.key !== key) })),
}));
