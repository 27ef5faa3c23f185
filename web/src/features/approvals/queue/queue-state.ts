// What waits for a decision, computed from the messages of the socket. Pure. A decision is never
// assumed: an entry leaves the queue when the server says so.
import { questionsOf } from "../../../api/asking";
import type { ApprovalRequest, ApprovalStatus, RehearsedMessage, ServerMessage } from "../../../api/message";
import { previewOf } from "../../../api/message";
import type { SocketEvent } from "../../../api/socket";
import { clockSkew } from "../../../lib/time";
import type { Answers } from "../decision/answers";
import { batchAnswered, withoutSentBatch } from "./batch-state";
import type { Batch } from "./batch-state";
import { NOWHERE, rankOf, shownEntries } from "./queue-order";
import type { Place } from "./queue-order";

export type Decision = "approve" | "reject";

export type Scope = "session" | "project";

/** A yes that reaches further: the rules that are added, one per line, and where they hold. */
export interface Grant {
  scope: Scope;
  rule: string;
}

/** What goes along with a yes to more, or to something else, than what was asked. */
export interface Terms {
  grant?: Grant;
  edited?: { input: unknown };
}

export interface Entry {
  request: ApprovalRequest;
  /** What it is on the screen by: another one is another request. A rehearsal only adds to it. */
  look: string;
  /** The decision that is on its way; the buttons rest meanwhile. */
  sending: Decision | null;
  error: string | null;
  /** False while the log is replayed: it may be settled two messages later. */
  isShown: boolean;
  /** False after a reconnect, until the server has sent it again. */
  isConfirmed: boolean;
}

/** Something to tell the person that is no longer in the queue. */
export interface Notice {
  key: string;
  tone: "good" | "bad" | "neutral";
  text: string;
}

export interface Queue {
  entries: Entry[];
  currentId: string | null;
  drafts: Record<string, string>;
  /** What the person made of a request's input, while its editor is open. */
  edits: Record<string, string>;
  /** What the person is about to answer. */
  answers: Record<string, Answers>;
  /** The calls that we sent changed, with the request we did it on: a new request for the call is the answer to that. By `callKey`. */
  editedCalls: ReadonlyMap<string, string>;
  isMinimised: boolean;
  /** What is open on this page: its requests come first. */
  place: Place;
  /** Whether the person has a hand on the card: then no other one takes its place. */
  isHeld: boolean;
  /** What was in view to its end, by `seenKey`. */
  seen: ReadonlySet<string>;
  /** What "approve all" means; none while nobody has asked for it. */
  batch: Batch | null;
  notices: Notice[];
  settled: ReadonlySet<string>;
  isLive: boolean;
  skew: number;
}

export const emptyQueue: Queue = {
  entries: [],
  currentId: null,
  drafts: {},
  edits: {},
  answers: {},
  editedCalls: new Map(),
  isMinimised: false,
  place: NOWHERE,
  isHeld: false,
  seen: new Set(),
  batch: null,
  notices: [],
  settled: new Set(),
  isLive: false,
  skew: 0,
};

type Resolved = Extract<ServerMessage, { type: "tool_approval_resolved" }>;

/** Applies a burst of messages. */
export function reduceQueue(queue: Queue, events: SocketEvent[], now: number): Queue {
  return events.reduce((state, event) => reduceOne(state, event, now), queue);
}

function reduceOne(queue: Queue, event: SocketEvent, now: number): Queue {
  switch (event.type) {
    case "link":
      return linkChanged(queue, event.link);
    case "tool_approval_request":
      return requested(queue, event);
    case "tool_rehearsed":
      return rehearsed(queue, event);
    case "tool_approval_resolved":
      return resolved(queue, event);
    case "approve_all_answered":
      return batchAnswered(queue, event.content.answers);
    case "error":
      return refused(queue, event.content.message, event.request_id ?? null);
    case "system":
      return event.subtype === "resumed" ? { ...queue, skew: clockSkew(event.content.now, now) } : queue;
    default:
      return queue;
  }
}

function linkChanged(queue: Queue, link: Extract<SocketEvent, { type: "link" }>["link"]): Queue {
  if (link === "live") return caughtUp(queue);
  if (link === "catching-up") return queue;
  const entries = queue.entries.map((entry) => ({ ...entry, isConfirmed: false, sending: null }));
  return { ...queue, isLive: false, entries, batch: withoutSentBatch(queue.batch) };
}

/** The replay is over: what was not sent again is not pending any more. */
function caughtUp(queue: Queue): Queue {
  const gone = queue.entries.filter((entry) => entry.isShown && !entry.isConfirmed);
  const entries = queue.entries.filter((entry) => entry.isConfirmed).map((entry) => ({ ...entry, isShown: true }));
  const notices = gone.map(({ request }): Notice => ({
    key: request.request_id,
    tone: "neutral",
    text: `${request.tool_name}: decided while you were disconnected`,
  }));
  return withCurrent({ ...queue, isLive: true, entries, notices: [...queue.notices, ...notices] }, queue);
}

function requested(queue: Queue, request: ApprovalRequest): Queue {
  if (queue.settled.has(request.request_id)) return queue;
  if (request.status !== "PENDING") return settle(queue, request.request_id);
  const known = queue.entries.find((entry) => entry.request.request_id === request.request_id);
  if (known) {
    // What moved since must be decided anew: no decision on the old one counts for it.
    const moved = known.request.digest === request.digest ? {} : { sending: null, look: lookOf(request) };
    return patch(queue, request.request_id, { request, isConfirmed: true, ...moved });
  }
  const entry: Entry = { request, look: lookOf(request), sending: null, error: null, isShown: queue.isLive, isConfirmed: true };
  return broughtForward(withCurrent({ ...queue, entries: [...queue.entries, entry] }, queue), entry);
}

/** What belongs to the open conversation goes before what does not, unless the person has a hand on that. */
function broughtForward(queue: Queue, { request, isShown }: Entry): Queue {
  const current = currentEntry(queue);
  if (!isShown || !current || isTouched(queue, current)) return queue;
  const isNearer = rankOf(request, queue.place) < rankOf(current.request, queue.place);
  return isNearer ? { ...queue, currentId: request.request_id } : queue;
}

function isTouched(queue: Queue, { request: { request_id: id }, sending }: Entry): boolean {
  return queue.isHeld || sending !== null || Boolean(queue.drafts[id]) || id in queue.edits || id in queue.answers;
}

/** Another conversation is open from now on: its first request comes up. */
export function placedAt(queue: Queue, place: Place): Queue {
  const next = { ...queue, place };
  const current = currentEntry(next);
  const first = shownEntries(next)[0];
  if (!current || !first || isTouched(next, current) || rankOf(first.request, place) >= rankOf(current.request, place)) return next;
  return { ...next, currentId: first.request.request_id };
}

/** What was found beside a request that is on the screen: it stays the same, and so does what was said of it. */
function rehearsed(queue: Queue, message: RehearsedMessage): Queue {
  return patch(queue, message.request_id, { request: { ...message, type: "tool_approval_request" } });
}

function lookOf({ request_id: id, digest }: ApprovalRequest): string {
  return `${id} ${digest}`;
}

function resolved(queue: Queue, message: Resolved): Queue {
  const entry = queue.entries.find(({ request }) => request.request_id === message.request_id);
  const next = settle(queue, message.request_id);
  // A replayed request that was never on screen, and our own decision, need no telling.
  if (!entry?.isShown || isOurs(entry, message.status)) return next;
  return { ...next, notices: [...next.notices, noticeOf(entry.request, message, isEditOnItsWay(queue, entry))] };
}

function isEditOnItsWay(queue: Queue, { request, sending }: Entry): boolean {
  return sending === "approve" && queue.editedCalls.get(callKey(request)) === request.request_id;
}

/** Whether the server asks again because of what we made of the call. */
export function isAnswerToEdit(queue: Pick<Queue, "editedCalls">, request: ApprovalRequest): boolean {
  const sentOn = queue.editedCalls.get(callKey(request));
  return sentOn !== undefined && sentOn !== request.request_id;
}

/** Programs choose the ids of their calls themselves: only within a conversation they are unique. */
function callKey({ workspace, session_id: sessionId, tool_use_id: id }: ApprovalRequest): string {
  return `${workspace.project_id} ${sessionId ?? ""} ${id}`;
}

/** What has to be in view, and once it was need not be again. A rehearsal may add to it. */
export function seenKey({ look, request }: Entry): string {
  return `${look} ${previewOf(request).rehearsal?.state ?? ""}`;
}

function settle(queue: Queue, id: string): Queue {
  const entries = queue.entries.filter(({ request }) => request.request_id !== id);
  const { [id]: _draft, ...drafts } = queue.drafts;
  const { [id]: _edit, ...edits } = queue.edits;
  const { [id]: _answers, ...answers } = queue.answers;
  return withCurrent({ ...queue, entries, drafts, edits, answers, settled: new Set(queue.settled).add(id) }, queue);
}

function isOurs(entry: Entry, status: ApprovalStatus): boolean {
  return (
    (entry.sending === "approve" && status === "APPROVED") || (entry.sending === "reject" && status === "REJECTED")
  );
}

function noticeOf(request: ApprovalRequest, message: Resolved, isEdited: boolean): Notice {
  const by = message.decided_by ? ` by ${message.decided_by}` : "";
  const yes = questionsOf(request) ? "Answered" : "Approved";
  const [word, tone] = {
    APPROVED: [`${yes}${by}`, "good"],
    REJECTED: [`Rejected${by}`, "bad"],
    TIMEOUT: ["Expired", "bad"],
    CANCELLED: [isEdited ? "asked again, riskier after your edit" : "Cancelled", "neutral"],
    PENDING: ["Waiting again", "neutral"],
  }[message.status] as [string, Notice["tone"]];
  return { key: request.request_id, tone, text: `${request.tool_name}: ${word}` };
}

/** Without a request's name the refusal can only be about what is on its way. */
function refused(queue: Queue, message: string, id: string | null): Queue {
  const entries = queue.entries.map((entry) => {
    const isMeant = id === null ? entry.sending !== null : entry.request.request_id === id;
    return isMeant ? { ...entry, sending: null, error: message } : entry;
  });
  return { ...queue, entries, batch: id === null ? withoutSentBatch(queue.batch) : queue.batch };
}

export function decisionSent(queue: Queue, id: string, decision: Decision, terms: Terms = {}): Queue {
  const next = patch(queue, id, { sending: decision, error: null });
  const entry = next.entries.find(({ request }) => request.request_id === id);
  if (!entry || terms.edited === undefined) return next;
  return { ...next, editedCalls: new Map(queue.editedCalls).set(callKey(entry.request), id) };
}

/** Opens the editor of a request with this text, or closes it. */
export function editTo(queue: Queue, id: string, text: string | null): Queue {
  const { [id]: _dropped, ...edits } = queue.edits;
  return { ...queue, edits: text === null ? edits : { ...edits, [id]: text } };
}

export function currentEntry(queue: Queue): Entry | null {
  return shownEntries(queue).find(({ request }) => request.request_id === queue.currentId) ?? null;
}

/** Goes to the next or previous request, around the end. */
export function moveCurrent(queue: Queue, step: 1 | -1): Queue {
  const shown = shownEntries(queue);
  const index = shown.findIndex(({ request }) => request.request_id === queue.currentId);
  const next = shown[(index + step + shown.length) % shown.length];
  return next ? { ...queue, currentId: next.request.request_id } : queue;
}

/** Keeps the current request while it waits; else takes the one that moved into its place. */
function withCurrent(next: Queue, before: Queue): Queue {
  const shown = shownEntries(next);
  if (shown.some(({ request }) => request.request_id === next.currentId)) return next;
  const place = shownEntries(before).findIndex(({ request }) => request.request_id === before.currentId);
  const successor = shown[Math.min(Math.max(place, 0), shown.length - 1)];
  return {
    ...next,
    currentId: successor?.request.request_id ?? null,
    // The next burst of requests opens the panel again.
    isMinimised: shown.length > 0 && next.isMinimised,
  };
}

function patch(queue: Queue, id: string, change: Partial<Entry>): Queue {
  const entries = queue.entries.map((entry) => (entry.request.request_id === id ? { ...entry, ...change } : entry));
  return { ...queue, entries };
}
