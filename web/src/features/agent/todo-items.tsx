import type { Todo, TodoState } from "../../api/todos";
import { BLANKS } from "../../lib/visible-text";
import { Visible } from "../../ui/visible";
import styles from "./todo-items.module.css";

const SIGNS: Record<TodoState, { sign: string; spoken: string }> = {
  pending: { sign: "○", spoken: "To do" },
  in_progress: { sign: "▸", spoken: "In progress" },
  completed: { sign: "✓", spoken: "Done" },
  cancelled: { sign: "–", spoken: "Cancelled" },
};

/** Tasks, one a line, each with how far it is. */
export function TodoItems({ todos, label }: { todos: Todo[]; label: string }) {
  return (
    <ul className={styles.items} aria-label={label}>
      {todos.map(({ content, state }, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- a task has no name of its own, and its place is its place
        <li key={index} data-state={state}>
          <span className={styles.sign} aria-hidden="true" title={SIGNS[state].spoken}>
            {SIGNS[state].sign}
          </span>
          <span className={styles.text}>
            <span className="visually-hidden">{SIGNS[state].spoken}: </span>
            <Visible text={content} blanks={BLANKS} emptyLines />
          </span>
        </li>
      ))}
    </ul>
  );
}
