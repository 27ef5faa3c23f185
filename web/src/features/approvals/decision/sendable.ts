// How a decision on a request is called, and what goes along with a yes to it. Pure.
import { planOf, questionsOf, withAnswers } from "../../../api/asking";
import { previewOf } from "../../../api/message";
import type { ApprovalRequest } from "../../../api/message";
import { answered } from "./answers";
import type { Answers } from "./answers";
import { editableOf, editedInput } from "./edit-input";
import type { Terms } from "../queue/queue-state";

/** What waits for the person: a call to be allowed, questions, leave to plan, or a plan. */
export type Kind = "call" | "questions" | "planning" | "plan";

export function kindOf(request: ApprovalRequest): Kind {
  if (questionsOf(request)) return "questions";
  if (request.tool_name === "EnterPlanMode") return "planning";
  return planOf(request) === null ? "call" : "plan";
}

interface Words {
  /** What is wanted of the person. */
  needed: string;
  summary: string | null;
  /** What follows from a yes, in place of a risk and its reasons. */
  note: string | null;
  approve: string;
  reject: string;
  feedback: string;
  sending: { approve: string; reject: string };
}

const WORDS: Record<Kind, Words> = {
  call: {
    needed: "approval needed",
    summary: null,
    note: null,
    approve: "Approve",
    reject: "Reject",
    feedback: "With a rejection: what to do instead",
    sending: { approve: "Sending the approval…", reject: "Sending the rejection…" },
  },
  questions: {
    needed: "answer needed",
    summary: "The agent wants to know",
    note: null,
    approve: "Send answer",
    reject: "Don’t answer",
    feedback: "Instead of an answer: what to do",
    sending: { approve: "Sending the answer…", reject: "Telling the agent…" },
  },
  planning: {
    needed: "approval needed",
    summary: "Plan before anything is changed?",
    note: "Until you approve its plan, the agent only looks around.",
    approve: "Start planning",
    reject: "Don’t plan",
    feedback: "With a no: what to do instead",
    sending: { approve: "Sending the approval…", reject: "Telling the agent…" },
  },
  plan: {
    needed: "approval needed",
    summary: "Carry out this plan?",
    note: "Each step of it is still judged, and asks where it has to.",
    approve: "Approve plan",
    reject: "Keep planning",
    feedback: "What the plan should do otherwise",
    sending: { approve: "Sending the approval…", reject: "Sending it back…" },
  },
};

export function wordsFor(request: ApprovalRequest): Words {
  const words = WORDS[kindOf(request)];
  return keepsResult(request) ? { ...words, approve: "Approve result" } : words;
}

/** Whether a yes keeps what a rehearsal did, instead of running the command. */
function keepsResult(request: ApprovalRequest): boolean {
  const { rehearsal } = previewOf(request);
  return rehearsal?.state === "done" && rehearsal.keeps;
}

/** What a yes would carry; nothing while it cannot be said yet. */
export function sendableOf(request: ApprovalRequest, edit: string | null, answers: Answers): Terms | null {
  const { tool_name: tool, tool_input: input } = request;
  const questions = questionsOf(request);
  if (questions) {
    const said = answered(questions, answers);
    return said && { edited: { input: withAnswers(input, said) } };
  }
  // Open, but as it was.
  if (edit === null || edit === editableOf(tool, input).text) return {};
  const edited = editedInput(tool, input, edit);
  return edited.error === null ? { edited: { input: edited.input } } : null;
}
