// What a conversation looks like, computed from the messages of the socket. Pure: the same
// messages give the same view, live or replayed, once or twice.
import { placeOf } from "../../api/message";
import type { ApprovalStatus, ModeView, Origin, PermissionMode, ServerMessage, Usage } from "../../api/message";
import type { SocketEvent } from "../../api/socket";
import { mayHaveMissed, outputCame, outputEnded, stepCame } from "./elsewhere";
import type { LiveOutput, Step } from "./elsewhere";
import { afterCall, openLists, withoutSubagents } from "./todo-lists";
import type { TodoList } from "./todo-lists";

export interface ToolResult {
  content: string;
  isError: boolean;
}

export type Item =
  | { kind: "prompt"; key: string; text: string }
  | { kind: "text"; key: string; text: string }
  | { kind: "tool"; key: string; id: string; name: string; input: unknown; agent: string | null; result: ToolResult | null }
  | { kind: "resumed"; key: string; message: string }
  | { kind: "end"; key: string; usage: Usage | null }
  | { kind: "failure"; key: string; message: string; code: string; hint: string | null };

/** What became of the approval that a tool call waited for. */
export interface Verdict {
  requestId: string;
  status: ApprovalStatus;
  decidedBy: string | null;
  feedback: string | null;
  origin: Origin;
  /** The input as the person changed or answered it; none where they did not. */
  editedInput: unknown;
}

export interface ServerInfo {
  demo: boolean;
  approvals: "chosen" | "kept" | "off";
  model: string;
  root: string;
  modes: ModeView[];
  /** The mode of a run of this conversation that names none. */
  defaultMode: PermissionMode;
}

export interface Transcript {
  /** The workspace, as the address has it. */
  projectId: string;
  sessionId: string;
  /** Nothing of it is in the log: the next prompt begins it. */
  isNew: boolean;
  items: Item[];
  /** By tool-use id; apart from the items because a re-sent request may come before its call. */
  verdicts: Record<string, Verdict>;
  /** How far the calls have come that a client runs, by tool-use id. */
  steps: Record<string, Step>;
  /** What those calls have written so far, by the server's id of the call. */
  outputs: Record<string, LiveOutput>;
  /** What the agent and those it has started have noted to do. */
  lists: TodoList[];
  /** Text that streams in and has not been logged yet. */
  live: string;
  /** Whether the beginning of `live` was missed while we were away. */
  liveIsPartial: boolean;
  retry: { attempt: number; reason: string } | null;
  isRunning: boolean;
  /** A prompt that was sent and not yet confirmed by the log. */
  awaiting: string | null;
  /** What stands in the prompt box. Here because a prompt that got lost on the way goes back into it. */
  draft: string;
  /** The mode that the person chose for this conversation; none if they did not. Only then the page names one. */
  chosenMode: PermissionMode | null;
  /** Trouble that is not about a run. */
  problem: string | null;
  server: ServerInfo | null;
  lastSeq: number;
  /** `resumed` said that nothing runs: an unfinished run in the replay was cut off. */
  isIdle: boolean;
}

export function emptyTranscript(sessionId: string, isNew = false, server: ServerInfo | null = null, projectId = ""): Transcript {
  return {
    projectId,
    sessionId,
    isNew,
    items: [],
    verdicts: {},
    steps: {},
    outputs: {},
    lists: [],
    live: "",
    liveIsPartial: false,
    retry: null,
    isRunning: false,
    awaiting: null,
    draft: "",
    chosenMode: null,
    problem: null,
    server,
    lastSeq: 0,
    isIdle: false,
  };
}

/** Applies a burst of messages; the items are copied once per burst, not once per message. */
export function reduceTranscript(state: Transcript, events: SocketEvent[]): Transcript {
  const draft: Transcript = {
    ...state,
    items: [...state.items],
    verdicts: { ...state.verdicts },
    steps: { ...state.steps },
    outputs: { ...state.outputs },
  };
  for (const event of events) apply(draft, event);
  return draft;
}

function apply(draft: Transcript, event: SocketEvent) {
  if (event.type === "link") return linkChanged(draft, event.link);
  if (event.type === "error" && event.request_id === undefined) return refused(draft, event.content.message);
  if (isRefusedRun(event)) return refused(draft, [event.content.message, event.hint].filter(Boolean).join(". Hint: "));
  if (event.type === "system" && event.subtype === "resumed") return resumed(draft, event);
  if (event.type === "system" && event.subtype === "settings") return settingsChanged(draft, event.content);
  if (isForeign(draft, event) || isDuplicate(draft, event)) return;
  applyOwn(draft, event);
}

/** Requests of every conversation are sent to all; the rest is ours. */
function isForeign(draft: Transcript, message: ServerMessage): boolean {
  return message.session_id !== draft.sessionId;
}

/** What has no place is live, or about an approval: applying that twice changes nothing. */
function isDuplicate(draft: Transcript, message: ServerMessage): boolean {
  const place = placeOf(message);
  if (place === null) return false;
  if (place <= draft.lastSeq) return true;
  draft.lastSeq = place;
  draft.isNew = false;
  return false;
}

function applyOwn(draft: Transcript, message: ServerMessage) {
  const key = String(message.seq ?? `${draft.lastSeq}.${draft.items.length}`);
  switch (message.type) {
    case "system":
      return message.subtype === "init" ? runStarted(draft) : systemNotice(draft, message, key);
    case "assistant":
      return assistantSaid(draft, message, key);
    case "user":
      return userSaid(draft, message, key);
    case "result":
      return runEnded(draft, message, key);
    case "tool_approval_request":
      draft.verdicts[message.tool_use_id] = {
        requestId: message.request_id,
        status: message.status,
        decidedBy: null,
        feedback: message.user_feedback,
        origin: message.origin,
        editedInput: message.edited ? message.tool_input : null,
      };
      return;
    case "tool_approval_resolved":
      return verdictCame(draft, message);
    case "tool_state":
      return stepCame(draft, message.content);
    case "tool_output":
      return outputCame(draft, message.content);
    default:
      return;
  }
}

function runStarted(draft: Transcript) {
  draft.isRunning = true;
  draft.problem = null;
  draft.lists = openLists(withoutSubagents(draft.lists));
  dropLive(draft);
}

/** Another driver goes on: what had come of an answer that is not in the log is asked for again. */
function runResumed(draft: Transcript, message: string, key: string) {
  draft.isRunning = true;
  draft.retry = null;
  draft.lists = withoutSubagents(draft.lists);
  dropLive(draft);
  draft.items.push({ kind: "resumed", key, message });
}

function systemNotice(draft: Transcript, message: Extract<ServerMessage, { type: "system" }>, key: string) {
  if (message.subtype === "notice") {
    draft.items.push({ kind: "resumed", key, message: message.content.message });
    return;
  }
  if (message.subtype === "run_resumed") return runResumed(draft, message.content.message, key);
  if (message.subtype !== "retry") return;
  dropLive(draft);
  draft.retry = { attempt: message.content.attempt, reason: message.content.reason };
}

function assistantSaid(draft: Transcript, message: Extract<ServerMessage, { type: "assistant" }>, key: string) {
  draft.retry = null;
  switch (message.subtype) {
    case "text_delta":
      draft.live += message.content.text;
      return;
    case "text":
      dropLive(draft);
      draft.items.push({ kind: "text", key, text: message.content.text });
      return;
    case "tool_use": {
      dropLive(draft);
      const { id, name, input, agent = null } = message.content;
      draft.items.push({ kind: "tool", key, id, name, input, agent, result: null });
    }
  }
}

function userSaid(draft: Transcript, message: Extract<ServerMessage, { type: "user" }>, key: string) {
  if (message.subtype === "tool_result") return resultCame(draft, message.content);
  if (message.subtype !== "prompt") return;
  if (draft.awaiting === message.content.text) draft.awaiting = null;
  draft.items.push({ kind: "prompt", key, text: message.content.text });
}

function resultCame(draft: Transcript, content: { tool_use_id: string; content: string; is_error: boolean }) {
  const index = draft.items.findLastIndex((item) => item.kind === "tool" && item.id === content.tool_use_id);
  const item = draft.items[index];
  if (item?.kind !== "tool") return;
  draft.items[index] = { ...item, result: { content: content.content, isError: content.is_error } };
  outputEnded(draft, content.tool_use_id);
  if (content.is_error) return;
  const input = draft.verdicts[item.id]?.editedInput ?? item.input;
  draft.lists = afterCall(draft.lists, { name: item.name, input, agent: item.agent, answer: content.content });
}

function runEnded(draft: Transcript, message: Extract<ServerMessage, { type: "result" }>, key: string) {
  // Before its run has begun, an end can only mean that the prompt was not taken.
  if (!draft.isRunning) returnPrompt(draft);
  dropLive(draft);
  draft.retry = null;
  draft.isRunning = false;
  draft.lists = withoutSubagents(draft.lists);
  if (message.subtype === "success") {
    draft.items.push({ kind: "end", key, usage: message.usage ?? null });
    return;
  }
  const { message: text, code } = message.content;
  draft.items.push({ kind: "failure", key, message: text, code, hint: message.hint ?? null });
}

function verdictCame(draft: Transcript, message: Extract<ServerMessage, { type: "tool_approval_resolved" }>) {
  for (const [toolUseId, verdict] of Object.entries(draft.verdicts)) {
    if (verdict.requestId !== message.request_id) continue;
    const { status, decided_by: decidedBy, user_feedback: feedback, edited_input: editedInput = null } = message;
    draft.verdicts[toolUseId] = { ...verdict, status, decidedBy, feedback, editedInput };
  }
}

function resumed(draft: Transcript, message: Extract<ServerMessage, { subtype: "resumed" }>) {
  const { demo, model, root, modes, approvals, active } = message.content;
  draft.server = { demo, model, root, modes, approvals, defaultMode: message.content.default_mode };
  draft.isIdle = !active;
  // What streamed while we were away is gone until the full text comes.
  draft.live = "";
  draft.liveIsPartial = active;
  draft.outputs = {};
}

/** The mode of the next run: what the person chose, else what the server would take for this conversation. */
export function modeOf({ chosenMode, server }: Pick<Transcript, "chosenMode" | "server">): PermissionMode {
  return chosenMode ?? server?.defaultMode ?? "sdk";
}

/** Somebody changed what holds in the project, in this tab or elsewhere. */
function settingsChanged(draft: Transcript, { modes, approvals, default_mode: defaultMode }: Extract<ServerMessage, { subtype: "settings" }>["content"]) {
  if (draft.server) draft.server = { ...draft.server, modes, approvals, defaultMode };
}

function linkChanged(draft: Transcript, link: Extract<SocketEvent, { type: "link" }>["link"]) {
  if (link !== "live") return;
  if (draft.isIdle) draft.isRunning = false;
  if (draft.lastSeq === 0) draft.isNew = true;
  mayHaveMissed(draft);
}

/** A run that could not even start has no place in any log: its end comes without a conversation. */
function isRefusedRun(message: ServerMessage): message is Extract<ServerMessage, { type: "result"; subtype: "error" }> {
  return message.type === "result" && message.subtype === "error" && message.session_id === undefined;
}

/** The server refused what we asked for, so a prompt on its way was not taken. */
function refused(draft: Transcript, problem: string) {
  draft.problem = problem;
  returnPrompt(draft);
}

function returnPrompt(draft: Transcript) {
  if (draft.awaiting === null) return;
  draft.draft = draft.draft === "" ? draft.awaiting : `${draft.awaiting}\n${draft.draft}`;
  draft.awaiting = null;
}

/** After a reconnect and its replay: a prompt the log does not know never arrived. */
export function promptWasLost(state: Transcript): Transcript {
  if (state.awaiting === null) return state;
  const draft = { ...state, problem: "The connection broke before the prompt arrived. It is back in the box." };
  returnPrompt(draft);
  return draft;
}

function dropLive(draft: Transcript) {
  draft.live = "";
  draft.liveIsPartial = false;
}
