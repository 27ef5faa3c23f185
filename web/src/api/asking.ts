// Calls of Claude Code that are a question to the person: what they ask, and an answer in the words it expects.

export interface Option {
  label: string;
  description: string;
  /** What choosing it would look like, as plain text. */
  preview: string | null;
}

export interface Question {
  /** Also the name by which it is answered. */
  question: string;
  /** A word or two for what it is about. */
  header: string;
  isMulti: boolean;
  options: Option[];
}

/** A question and its answer; none while there is none. */
export interface Exchange {
  question: string;
  answer: string | null;
}

/** What this needs to know of a call, wherever it is shown. */
interface Call {
  tool_name: string;
  tool_input?: unknown;
}

/** What `AskUserQuestion` asks; nothing for other tools, and for an input that is not as we know it: that is shown as it is. */
export function questionsOf({ tool_name: tool, tool_input: input }: Call): Question[] | null {
  if (tool !== "AskUserQuestion") return null;
  const asked = fieldsOf(input)?.["questions"];
  if (!Array.isArray(asked) || asked.length === 0) return null;
  const questions = asked.map(questionOf);
  const names = new Set(questions.map((it) => it?.question));
  // Two of one name could not both be answered.
  return questions.every((it) => it !== null) && names.size === questions.length ? questions : null;
}

function questionOf(value: unknown): Question | null {
  const { question, header, multiSelect, options } = fieldsOf(value) ?? {};
  if (typeof question !== "string" || !Array.isArray(options)) return null;
  const known = options.map(optionOf);
  // An answer is a label: two of one name would be one answer.
  if (!known.every((it) => it !== null) || new Set(known.map(({ label }) => label)).size !== known.length) return null;
  return { question, header: textOf(header) ?? "", isMulti: multiSelect === true, options: known };
}

function optionOf(value: unknown): Option | null {
  const { label, description, preview } = fieldsOf(value) ?? {};
  return typeof label === "string" ? { label, description: textOf(description) ?? "", preview: textOf(preview) } : null;
}

/** The questions of a call with the answers that its input holds. */
export function exchangesOf(call: Call): Exchange[] | null {
  const answers = fieldsOf(fieldsOf(call.tool_input)?.["answers"]);
  return questionsOf(call)?.map(({ question }) => ({ question, answer: textOf(answers?.[question]) })) ?? null;
}

/** The whole input, answered: what the tool is allowed with. */
export function withAnswers(input: unknown, answers: Record<string, string>): unknown {
  return { ...fieldsOf(input), answers };
}

/** The plan that `ExitPlanMode` wants to carry out. */
export function planOf({ tool_name: tool, tool_input: input }: Call): string | null {
  if (tool !== "ExitPlanMode") return null;
  const plan = textOf(fieldsOf(input)?.["plan"]);
  return plan === null || plan.trim() === "" ? null : plan;
}

/** Whether it is shown as a question or a plan, not as the input of a tool. */
export function isPersonal(call: Call): boolean {
  return questionsOf(call) !== null || planOf(call) !== null;
}

/** One line on what it asks, in the agent's words; none for a call that only does something. */
export function askedText(call: Call): string | null {
  const exchanges = exchangesOf(call);
  if (exchanges) return exchanges.map(({ question, answer }) => (answer === null ? question : `${question} → ${answer}`)).join(" · ");
  const plan = planOf(call);
  return plan === null ? null : (plan.split("\n").find((line) => line.trim() !== "") ?? "").replace(/^#+\s*/, "");
}

function fieldsOf(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
