// The panel while no card is open: nothing waits, or all of it was put aside.
import { useEffect, useId } from "react";
import { flushSync } from "react-dom";

import { HOP_KEY, bareKey, isEditing, isPrintable } from "../../lib/keyboard";
import styles from "./approval-panel.module.css";
import { QueueList } from "./queue/queue-list";
import { shownEntries } from "./queue/queue-order";
import { useApprovals } from "./store";
import type { CardFocus } from "./use-card-focus";
import { useTold } from "./decision/use-told";

export function EmptyPanel({ focus }: { focus: CardFocus }) {
  const queue = useApprovals();
  const shown = shownEntries(queue);
  const list = useId();
  const { told, tell } = useTold("");
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const key = bareKey(event);
      if (key === null || event.defaultPrevented || document.querySelector("dialog[open]")) return;
      if (key === HOP_KEY && (shown.length > 0 || focus.isHere())) {
        event.preventDefault();
        focus.hop();
      } else if (isPrintable(key) && !isEditing(event.target) && focus.isHere()) {
        tell(`Nothing is open here, so “${key}” did nothing. ${HOP_KEY} goes back.`);
      }
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [shown.length, focus, tell]);
  const choose = (id: string) => {
    flushSync(() => queue.select(id));
    focus.enter();
  };
  if (shown.length > 0) {
    return (
      <>
        <h2 className={styles.aside}>Put aside: {shown.length.toLocaleString("en")} waiting</h2>
        <QueueList id={list} entries={shown} current={null} isLive={queue.isLive} onChoose={choose} />
        <p className={styles.told} role="status">
          {told?.text}
        </p>
      </>
    );
  }
  return (
    <div className={styles.nothing}>
      <h2>Nothing waits for you</h2>
      <p>Before an agent changes a file or runs a command, you see it here, whole, and decide.</p>
      <p className={styles.keys}>
        <kbd>{HOP_KEY}</kbd> moves into a card that waits, and back.
      </p>
      <p className={styles.told} role="status">
        {told?.text}
      </p>
    </div>
  );
}
