import { useState } from "react";

import { cap } from "../../lib/cap";
import { classNames } from "../../lib/class-names";
import { Button } from "../../ui/button";
import styles from "./prompt-bubble.module.css";

/** A pasted log must not push the answer to it out of sight. */
const LINES = 12;
const CHARACTERS = 1200;

/** What the person asked. */
export function PromptBubble({ text, isPending = false }: { text: string; isPending?: boolean }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? text : cap(text, LINES, CHARACTERS);
  return (
    <div className={classNames(styles.prompt, isPending && styles.pending)}>
      <span className="visually-hidden">You: </span>
      {shown}
      {shown.length < text.length && (
        <>
          {" … "}
          <Button look="quiet" size="small" onClick={() => setWhole(true)}>
            Show all ({text.length.toLocaleString("en")} characters)
          </Button>
        </>
      )}
    </div>
  );
}
