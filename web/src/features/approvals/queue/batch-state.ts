// "Approve all": the requests of one conversation that waited when the person asked for it, and what became of each. Pure.
import { isCoveredByApproveAll } from "../../../api/can";
import type { ApprovalRequest, BatchAnswer } from "../../../api/message";
import { conversationKey, shownEntries } from "./queue-order";
import type { Entry, Queue } from "./queue-state";

export interface Batch {
  /** As they were when the list was opened: what comes later, or moves, is not meant. */
  requests: readonly ApprovalRequest[];
  /** How many of that conversation have to be decided one by one. */
  leftOut: number;
  isSent: boolean;
  /** None until the server has answered. */
  answers: readonly BatchAnswer[] | null;
}

/** What "approve all" would mean for a conversation now. */
export function coveredByApproveAll(queue: Pick<Queue, "entries" | "place">, key: string): Entry[] {
  return ofConversation(queue, key)
    .filter(({ request, sending }) => sending === null && isCoveredByApproveAll(request))
    .slice(0, MOST);
}

/** As many as the server takes in one command; the others come in the next list. */
const MOST = 1000;

function ofConversation(queue: Pick<Queue, "entries" | "place">, key: string): Entry[] {
  return shownEntries(queue).filter(({ request }) => conversationKey(request) === key);
}

/** Opens the list with what waits in a conversation now. */
export function batchOpened(queue: Queue, key: string): Queue {
  const requests = coveredByApproveAll(queue, key).map(({ request }) => request);
  const leftOut = ofConversation(queue, key).length - requests.length;
  return { ...queue, batch: { requests, leftOut, isSent: false, answers: null } };
}

export function batchSent(queue: Queue): Queue {
  if (!queue.batch) return queue;
  const ids = new Set(queue.batch.requests.map(({ request_id: id }) => id));
  const entries = queue.entries.map((entry) =>
    ids.has(entry.request.request_id) ? { ...entry, sending: "approve" as const, error: null } : entry,
  );
  return { ...queue, entries, batch: { ...queue.batch, isSent: true } };
}

/** Each that was refused says why, on its card too; the list stays open only if there is something to read. */
export function batchAnswered(queue: Queue, answers: readonly BatchAnswer[]): Queue {
  const refused = new Map(answers.filter(({ outcome }) => outcome === "refused").map((answer) => [answer.request_id, answer]));
  const entries = queue.entries.map((entry) => {
    const answer = refused.get(entry.request.request_id);
    return answer ? { ...entry, sending: null, error: refusalText(answer) } : entry;
  });
  const batch = queue.batch?.isSent ? answeredBatch(queue.batch, answers, refused.size) : queue.batch;
  const count = answers.length - refused.size;
  const notice = { key: `batch ${answers[0]?.request_id ?? ""}`, tone: "good" as const, text: count === 1 ? "1 call approved" : `${count} calls approved` };
  return { ...queue, entries, batch, notices: count > 0 && refused.size === 0 ? [...queue.notices, notice] : queue.notices };
}

function answeredBatch(batch: Batch, answers: readonly BatchAnswer[], refused: number): Batch | null {
  return refused > 0 ? { ...batch, answers } : null;
}

/** What was on its way when the connection broke, or was refused as a whole, is not answered any more. */
export function withoutSentBatch(batch: Batch | null): Batch | null {
  return batch?.isSent && batch.answers === null ? null : batch;
}

export function refusalText({ code, message }: BatchAnswer): string {
  return message ?? (code === undefined ? "The server refused it" : `The server refused it: ${code}`);
}
