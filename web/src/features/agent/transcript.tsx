import { memo, useState } from "react";
import type { ReactNode } from "react";

import { classNames } from "../../lib/class-names";
import { useStickToBottom } from "../../lib/stick-to-bottom";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { AssistantText, LiveText } from "./assistant-text";
import { whereabouts } from "./elsewhere";
import { PromptBubble } from "./prompt-bubble";
import { useAgent } from "./store";
import { ToolCall } from "./tool-call";
import type { Item, Transcript as TranscriptState } from "./transcript-state";
import styles from "./transcript.module.css";

/** More than anyone scrolls through at once; the rest comes on request. */
const SHOWN_ITEMS = 300;
/** The latest items are always laid out: a guessed height would move what is being read when an answer is complete. */
const FRESH_ITEMS = 60;

interface TranscriptProps {
  onShowApproval: (requestId: string) => void;
  /** Shown while there is nothing yet. */
  welcome: ReactNode;
}

export function Transcript({ onShowApproval, welcome }: TranscriptProps) {
  const { items, verdicts, steps, outputs, isRunning, awaiting, live, sessionId, isNew } = useAgent();
  const calls = { items, verdicts, steps, outputs, isRunning };
  const { scroller, content, isAway, toBottom } = useStickToBottom();
  const isEmpty = items.length === 0 && awaiting === null && live === "";
  return (
    <div className={styles.frame}>
      <div className={styles.scroller} ref={scroller} tabIndex={0} role="log" aria-live="off" aria-label="Conversation">
        <div className={styles.content} ref={content}>
          {isEmpty && isNew ? welcome : null}
          <Items key={sessionId} {...calls} onShowApproval={onShowApproval} />
          <Tail />
        </div>
      </div>
      {isAway && (
        <Button className={styles.latest} size="small" onClick={toBottom}>
          <Icon name="down" /> Latest
        </Button>
      )}
    </div>
  );
}

interface ItemsProps extends Pick<TranscriptState, "items" | "verdicts" | "steps" | "outputs" | "isRunning"> {
  onShowApproval: (requestId: string) => void;
}

/** Apart from the tail, so that streaming text does not touch what stands. */
const Items = memo(function Items({ items, verdicts, steps, outputs, isRunning, onShowApproval }: ItemsProps) {
  const root = useAgent((state) => state.server?.root);
  const [limit, setLimit] = useState(SHOWN_ITEMS);
  const hidden = Math.max(0, items.length - limit);
  return (
    <>
      {hidden > 0 && (
        <Button className={styles.earlier} size="small" onClick={() => setLimit(limit + SHOWN_ITEMS)}>
          Show earlier ({hidden.toLocaleString("en")} more)
        </Button>
      )}
      {items.slice(hidden).map((item, index) => (
        <div
          key={item.key}
          className={classNames(
            styles.item,
            item.kind === "tool" && styles.tool,
            index < items.length - hidden - FRESH_ITEMS && styles.old,
          )}
        >
          {item.kind === "tool" ? (
            <ToolCall
              item={item}
              verdict={verdicts[item.id]}
              step={steps[item.id]}
              output={outputs[steps[item.id]?.toolId ?? ""]}
              root={root}
              isRunning={isRunning && item.result === null}
              onShowApproval={onShowApproval}
            />
          ) : (
            <Plain item={item} />
          )}
        </div>
      ))}
    </>
  );
});

const Plain = memo(function Plain({ item }: { item: Exclude<Item, { kind: "tool" }> }) {
  switch (item.kind) {
    case "prompt":
      return <PromptBubble text={item.text} />;
    case "text":
      return <AssistantText text={item.text} />;
    case "resumed":
      return <p className={styles.end}>{item.message}</p>;
    case "end":
      return (
        <p className={styles.end}>
          Run complete
          {item.usage && (
            <span>
              {" · "}
              {item.usage.input_tokens.toLocaleString("en")} tokens in, {item.usage.output_tokens.toLocaleString("en")} out
            </span>
          )}
        </p>
      );
    case "failure":
      return <Failure item={item} />;
  }
});

function Failure({ item }: { item: Extract<Item, { kind: "failure" }> }) {
  if (item.code === "cancelled") return <p className={styles.end}>Stopped</p>;
  return (
    <div className={styles.failure} role="alert">
      <p>
        <strong>The run ended with an error.</strong> {item.message}
      </p>
      {item.hint && <p className={styles.hint}>{item.hint}</p>}
    </div>
  );
}

/** What is still moving: the prompt on its way, the text that streams, the wait. */
function Tail() {
  const state = useAgent();
  const { awaiting, live, liveIsPartial, retry, isRunning } = state;
  const wait = waitOf(state);
  return (
    <>
      {awaiting !== null && <PromptBubble text={awaiting} isPending />}
      {live !== "" && <LiveText text={live} isPartial={liveIsPartial} />}
      {retry && (
        <p className={styles.retry} role="status">
          The answer broke off ({retry.reason}). Trying again, attempt {retry.attempt}…
        </p>
      )}
      {isRunning && live === "" && !retry && (
        <p className={classNames(styles.working, wait !== null && styles.waiting)}>
          <span aria-hidden="true" />
          {wait ?? "Working"}
        </p>
      )}
    </>
  );
}

/** For whom everything waits, if it does. */
function waitOf({ items, verdicts, steps }: TranscriptState): string | null {
  if (Object.values(verdicts).some(({ status }) => status === "PENDING")) return "Waiting for your decision";
  const places = items.flatMap((item) =>
    item.kind === "tool" && item.result === null ? [whereabouts(steps[item.id], verdicts[item.id])] : [],
  );
  const isLeft = places.length > 0 && places.every((place) => place === "waiting");
  return isLeft ? "Waiting for a client" : null;
}
