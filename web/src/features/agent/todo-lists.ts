// The lists of tasks of a conversation, as its calls noted them: one of the agent, one of each agent that it has started. Pure.
import { addedTodo, changedTodo, notedList } from "../../api/todos";
import type { Todo, TodoChange } from "../../api/todos";

export interface TodoList {
  /** The subagent whose list it is; none for the main agent. */
  agent: string | null;
  todos: Todo[];
}

/** A call that was answered, and did what it was to do. */
interface Done {
  name: string;
  input: unknown;
  agent: string | null;
  answer: string;
}

/** The lists after a call. */
export function afterCall(lists: TodoList[], { name, input, agent, answer }: Done): TodoList[] {
  const call = { tool_name: name, tool_input: input };
  const whole = notedList(call);
  if (whole) return withList(lists, agent, whole);
  const added = addedTodo(call, answer);
  // Claude Code has one such list for all its agents.
  if (added) return withList(lists, null, [...listOf(lists, null), added]);
  const change = changedTodo(call);
  return change ? withList(lists, null, changed(listOf(lists, null), change)) : lists;
}

function listOf(lists: TodoList[], agent: string | null): Todo[] {
  return lists.find((list) => list.agent === agent)?.todos ?? [];
}

/** The main agent's comes first, the others in the order in which they began. */
function withList(lists: TodoList[], agent: string | null, todos: Todo[]): TodoList[] {
  const isKnown = lists.some((list) => list.agent === agent);
  const next = isKnown ? lists.map((list) => (list.agent === agent ? { agent, todos } : list)) : [...lists, { agent, todos }];
  return next.filter((list) => list.todos.length > 0).toSorted((a, b) => Number(a.agent !== null) - Number(b.agent !== null));
}

function changed(todos: Todo[], { id, state, content, active }: TodoChange): Todo[] {
  if (state === "deleted") return todos.filter((todo) => todo.id !== id);
  return todos.map((todo) =>
    todo.id === id
      ? { ...todo, state: state ?? todo.state, content: content ?? todo.content, active: active ?? content ?? todo.active }
      : todo,
  );
}

/** What is left when a run ends or goes on elsewhere: whoever it had started is gone. */
export function withoutSubagents(lists: TodoList[]): TodoList[] {
  return lists.filter((list) => list.agent === null);
}

/** What is left when a run begins: what was done is about the one before. */
export function openLists(lists: TodoList[]): TodoList[] {
  return lists.filter((list) => !progressOf(list.todos).isDone);
}

export interface Progress {
  done: number;
  /** Without those that were cancelled. */
  all: number;
  isDone: boolean;
  /** What goes on now; the first, if it is more than one thing. */
  doing: Todo | null;
}

export function progressOf(todos: Todo[]): Progress {
  const counted = todos.filter(({ state }) => state !== "cancelled");
  const done = counted.filter(({ state }) => state === "completed").length;
  const doing = todos.find(({ state }) => state === "in_progress") ?? null;
  return { done, all: counted.length, isDone: done === counted.length, doing };
}

/** In a few words how far it is. */
export function progressText({ done, all, isDone }: Progress): string {
  if (all === 0) return "Nothing left to do";
  return isDone ? `All ${all} done` : `${done} of ${all} done`;
}
