// An agent's list of tasks, read from the calls that note it: our own `TodoWrite` and `TodoRead`, and Claude Code's, which notes
// a whole list or, in its newer versions, task by task.

export type TodoState = "pending" | "in_progress" | "completed" | "cancelled";

export interface Todo {
  /** By which later calls name it; none where each call sends the whole list. */
  id: string | null;
  content: string;
  /** The same as it goes on, such as `Running the tests`. */
  active: string;
  state: TodoState;
}

/** What this needs to know of a call, wherever it is shown. */
interface Call {
  tool_name: string;
  tool_input?: unknown;
}

/** The states that are sent, and what they are to us. */
const STATES: Record<string, TodoState> = {
  pending: "pending",
  in_progress: "in_progress",
  completed: "completed",
  cancelled: "cancelled",
};

/** The whole list that a call notes; nothing for other calls, and for an input that is not as we know it: that is shown as it is. */
export function notedList({ tool_name: tool, tool_input: input }: Call): Todo[] | null {
  if (tool !== "TodoWrite") return null;
  const todos = fieldsOf(input)?.["todos"];
  if (!Array.isArray(todos)) return null;
  const known = todos.map(todoOf);
  return known.every((it) => it !== null) ? known : null;
}

function todoOf(value: unknown): Todo | null {
  const { content, status, activeForm } = fieldsOf(value) ?? {};
  const state = stateOf(status);
  if (typeof content !== "string" || state === null) return null;
  return { id: null, content, active: textOf(activeForm) ?? content, state };
}

/** What stands before a task in the answer of `TodoRead`: `told` in `crates/countersign-tools/src/todo/list.rs`. */
const MARKS: Record<string, TodoState> = { " ": "pending", ">": "in_progress", x: "completed", "-": "cancelled" };

/** The list that `TodoRead` has answered; nothing where it has none. */
export function readList({ tool_name: tool }: Call, answer: string): Todo[] | null {
  if (tool !== "TodoRead") return null;
  const todos = answer.split("\n").flatMap((line): Todo[] => {
    const [, mark = "", content] = /^\[([ >x-])\] (.+)$/.exec(line) ?? [];
    const state = MARKS[mark];
    return content !== undefined && state !== undefined ? [{ id: null, content, active: content, state }] : [];
  });
  return todos.length > 0 ? todos : null;
}

/** The one task that a call of Claude Code adds; its id is known from the answer. */
export function addedTodo({ tool_name: tool, tool_input: input }: Call, answer = ""): Todo | null {
  const { subject, activeForm } = fieldsOf(input) ?? {};
  if (tool !== "TaskCreate" || typeof subject !== "string") return null;
  const id = /Task #(\d+)/.exec(answer)?.[1] ?? null;
  return { id, content: subject, active: textOf(activeForm) ?? subject, state: "pending" };
}

/** What a call of Claude Code changes in one task; with `deleted` it goes. */
export interface TodoChange {
  id: string;
  state: TodoState | "deleted" | null;
  content: string | null;
  active: string | null;
}

export function changedTodo({ tool_name: tool, tool_input: input }: Call): TodoChange | null {
  const { taskId, status, subject, activeForm } = fieldsOf(input) ?? {};
  if (tool !== "TaskUpdate" || typeof taskId !== "string") return null;
  const state = status === "deleted" ? status : stateOf(status);
  return { id: taskId, state, content: textOf(subject), active: textOf(activeForm) };
}

function stateOf(value: unknown): TodoState | null {
  return typeof value === "string" && Object.hasOwn(STATES, value) ? (STATES[value] ?? null) : null;
}

function fieldsOf(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
