// Calls that a client runs: how far each has come, and what it has written so far. Pure, but for the draft it is given.
import type { Origin, ToolOutputMessage, ToolStateMessage } from "../../api/message";

/** How far a call has come. */
export interface Step {
  toolId: string;
  /** In the server's words: `approved`, `executing`, `completed`, … */
  status: string;
  /** Whether a client ever began it. */
  wasBegun: boolean;
}

/** Output on its way. Only the result is kept, so what was missed does not come again. */
export interface LiveOutput {
  text: string;
  /** Whether its beginning is not in `text`. */
  isPartial: boolean;
}

interface Draft {
  steps: Record<string, Step>;
  outputs: Record<string, LiveOutput>;
}

/** More than this of a running call's output is not held: the result has it. */
const HELD = 60_000;

export function stepCame(draft: Draft, { tool_id: toolId, tool_use_id: id, status, origin }: ToolStateMessage["content"]) {
  // Who runs its calls itself needs nobody to come for them.
  if (origin !== "client") return;
  const wasBegun = status === "executing" || (draft.steps[id]?.wasBegun ?? false);
  draft.steps[id] = { toolId, status, wasBegun };
}

export function outputCame(draft: Draft, { tool_id: toolId, text }: ToolOutputMessage["content"]) {
  const before = draft.outputs[toolId] ?? { text: "", isPartial: false };
  const whole = before.text + text;
  draft.outputs[toolId] =
    whole.length > HELD ? { text: fromLineStart(whole.slice(-HELD)), isPartial: true } : { ...before, text: whole };
}

/** The result is there, and tells it all. */
export function outputEnded(draft: Draft, toolUseId: string) {
  const step = draft.steps[toolUseId];
  if (step) delete draft.outputs[step.toolId];
}

/** The replay is over: whatever runs now may have written something before we came. */
export function mayHaveMissed(draft: Draft) {
  for (const { toolId, status } of Object.values(draft.steps)) {
    if (status === "executing") draft.outputs[toolId] = { text: draft.outputs[toolId]?.text ?? "", isPartial: true };
  }
}

/** A text that was cut somewhere begins with its first whole line, if it has one. */
function fromLineStart(text: string): string {
  return text.slice(text.indexOf("\n") + 1);
}

/** Where a call is between its approval and its result, as far as a client has it. */
export type Whereabouts = "waiting" | "running" | null;

/** That a person said yes only the verdict tells; every other step comes by itself. */
export function whereabouts(step: Step | undefined, verdict: { status: string; origin: Origin } | undefined): Whereabouts {
  if (step?.status === "executing") return "running";
  const isApproved = verdict?.status === "APPROVED" && verdict.origin === "client";
  return step?.status === "approved" || (step === undefined && isApproved) ? "waiting" : null;
}
