// The bar over the card: where in the queue one is, the way to the others, and what can be said to all of them.
import { useId, useRef, useState } from "react";
import type { KeyboardEvent } from "react";
import { flushSync } from "react-dom";

import { Button } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import { ApproveAll } from "./approve-all";
import styles from "./queue-bar.module.css";
import { QueueList } from "./queue-list";
import { conversationKey, shownEntries } from "./queue-order";
import type { Entry } from "./queue-state";
import { kindOf } from "../decision/sendable";
import { useApprovals } from "../store";

interface QueueBarProps {
  entry: Entry;
  isLive: boolean;
  /** Another one was picked, or the same again: it wants to be looked at. */
  onChosen: () => void;
  onHelp: () => void;
}

/** Outside the dialog: it is about the queue, not about this request. */
export function QueueBar({ entry, isLive, onChosen, onHelp }: QueueBarProps) {
  const queue = useApprovals();
  const shown = shownEntries(queue);
  const [isListOpen, setListOpen] = useState(false);
  const list = useId();
  const opener = useRef<HTMLButtonElement>(null);
  const choose = (id: string) => {
    // It has to be there before it can be gone to.
    flushSync(() => {
      queue.select(id);
      setListOpen(false);
    });
    onChosen();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !isListOpen) return;
    event.preventDefault();
    setListOpen(false);
    opener.current?.focus();
  };
  return (
    <div className={styles.head} onKeyDown={onKeyDown} role="presentation">
      <div className={styles.bar} data-risk={kindOf(entry.request) === "call" ? entry.request.risk_level : undefined}>
        <div className={styles.place}>
          {shown.length > 1 ? (
            <>
              <Step to={-1} label="Previous request" />
              <Button
                ref={opener}
                look="quiet"
                size="small"
                title="All that waits"
                aria-expanded={isListOpen}
                aria-controls={list}
                onClick={() => setListOpen(!isListOpen)}
              >
                {shown.indexOf(entry) + 1} of {shown.length}
              </Button>
              <Step to={1} label="Next request" />
            </>
          ) : (
            <span>1 of 1</span>
          )}
        </div>
        <ApproveAll conversation={conversationKey(entry.request)} isLive={isLive} />
        <div className={styles.tools}>
          <Button look="quiet" size="small" className={styles.help} onClick={onHelp} aria-label="Keys" title="Keys (?)">
            ?
          </Button>
          <Button look="quiet" size="small" onClick={() => queue.minimise(true)} aria-label="Minimise" title="Minimise (Esc)">
            <Icon name="minimise" />
          </Button>
        </div>
      </div>
      {isListOpen && shown.length > 1 && <QueueList id={list} entries={shown} current={entry} isLive={isLive} onChoose={choose} />}
    </div>
  );
}

function Step({ to, label }: { to: 1 | -1; label: string }) {
  const move = useApprovals((queue) => queue.move);
  return (
    <Button look="quiet" size="small" aria-label={label} title={`${label} (${to === 1 ? "j" : "k"})`} onClick={() => move(to)}>
      <Icon name={to === 1 ? "chevron" : "previous"} />
    </Button>
  );
}
