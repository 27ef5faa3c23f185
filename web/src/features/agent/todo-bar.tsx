// What the agent has noted to do, over the prompt: one line a list, which opens to its tasks.
import { useId, useState } from "react";

import { classNames } from "../../lib/class-names";
import { BLANKS } from "../../lib/visible-text";
import { Icon } from "../../ui/icon";
import { Tag } from "../../ui/tag";
import { Visible } from "../../ui/visible";
import { useAgent } from "./store";
import styles from "./todo-bar.module.css";
import { TodoItems } from "./todo-items";
import { progressOf, progressText } from "./todo-lists";
import type { Progress, TodoList } from "./todo-lists";

export function TodoBar() {
  const lists = useAgent((state) => state.lists);
  const isRunning = useAgent((state) => state.isRunning);
  const sessionId = useAgent((state) => state.sessionId);
  if (lists.length === 0) return null;
  return (
    <section className={styles.bar} aria-label="Tasks">
      {lists.map((list) => (
        <List key={`${sessionId} ${list.agent ?? ""}`} list={list} isRunning={isRunning} />
      ))}
    </section>
  );
}

function List({ list: { agent, todos }, isRunning }: { list: TodoList; isRunning: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const tasks = useId();
  const progress = progressOf(todos);
  return (
    <div className={styles.list}>
      <button type="button" className={styles.line} aria-expanded={isOpen} aria-controls={tasks} onClick={() => setOpen(!isOpen)}>
        <span className={classNames(styles.chevron, isOpen && styles.open)}>
          <Icon name="chevron" />
        </span>
        <Ring progress={progress} />
        {agent !== null && <Tag icon="branch" spoken="subagent" text={agent} />}
        <span className={styles.count}>{progressText(progress)}</span>
        <Doing progress={progress} isRunning={isRunning} />
      </button>
      <div id={tasks} className={styles.tasks} hidden={!isOpen}>
        {isOpen && <TodoItems todos={todos} label={agent === null ? "Tasks" : `Tasks of ${agent}`} />}
      </div>
    </div>
  );
}

/** What goes on, or what went on when the run ended. */
function Doing({ progress: { doing }, isRunning }: { progress: Progress; isRunning: boolean }) {
  if (!doing) return null;
  return (
    <span className={styles.doing}>
      <span aria-hidden="true">·</span> {!isRunning && "left off at: "}
      <Visible text={isRunning ? doing.active : doing.content} blanks={BLANKS} />
    </span>
  );
}

/** How much is done, as a ring that closes. */
function Ring({ progress: { done, all } }: { progress: Progress }) {
  const part = all === 0 ? 1 : done / all;
  return (
    <svg className={styles.ring} width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <circle cx="8" cy="8" r="5.5" />
      <circle cx="8" cy="8" r="5.5" pathLength="1" strokeDasharray={`${part} 1`} transform="rotate(-90 8 8)" />
    </svg>
  );
}
