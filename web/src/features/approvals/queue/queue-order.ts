// The order of what waits: the open conversation first, then the rest of its workspace, then other workspaces. Pure.
import type { ApprovalRequest } from "../../../api/message";
import type { Entry, Queue } from "./queue-state";

/** What is open on the page; nothing of it is known at first. */
export interface Place {
  projectId: string | null;
  sessionId: string | null;
}

export const NOWHERE: Place = { projectId: null, sessionId: null };

/** How near a request is to what is open. */
export type Rank = 0 | 1 | 2;

export function rankOf({ workspace, session_id: sessionId }: ApprovalRequest, place: Place): Rank {
  if (place.projectId !== null && workspace.project_id !== place.projectId) return 2;
  return sessionId !== undefined && sessionId === place.sessionId ? 0 : 1;
}

/** The conversation of a request. Programs choose its id, so only within a workspace it names one. */
export function conversationKey({ workspace, session_id: sessionId }: ApprovalRequest): string {
  return `${workspace.project_id} ${sessionId ?? ""}`;
}

/** What is on screen, in the order in which it is gone through. */
export function shownEntries({ entries, place }: Pick<Queue, "entries" | "place">): Entry[] {
  return inOrder(entries.filter((entry) => entry.isShown), place);
}

/** The same entries, nearest first; those of one conversation stand together, as they came. */
function inOrder(entries: readonly Entry[], place: Place): Entry[] {
  const workspaces = numbersOf(entries, ({ request }) => request.workspace.project_id);
  const conversations = numbersOf(entries, ({ request }) => conversationKey(request));
  return entries.toSorted(
    (a, b) =>
      rankOf(a.request, place) - rankOf(b.request, place) || workspaces(a) - workspaces(b) || conversations(a) - conversations(b),
  );
}

/** Numbers names by when they first came. */
function numbersOf(entries: readonly Entry[], nameOf: (entry: Entry) => string): (entry: Entry) => number {
  const numbers = new Map<string, number>();
  for (const entry of entries) if (!numbers.has(nameOf(entry))) numbers.set(nameOf(entry), numbers.size);
  return (entry) => numbers.get(nameOf(entry)) ?? numbers.size;
}

/** What waits in one conversation. */
export interface Group {
  key: string;
  rank: Rank;
  entries: Entry[];
}

/** Ordered entries, by their conversations. */
export function groupsOf(entries: readonly Entry[], place: Place): Group[] {
  const groups = new Map<string, Group>();
  for (const entry of entries) {
    const key = conversationKey(entry.request);
    const group = groups.get(key) ?? { key, rank: rankOf(entry.request, place), entries: [] };
    group.entries.push(entry);
    groups.set(key, group);
  }
  return [...groups.values()];
}
