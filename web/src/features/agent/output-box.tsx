import { useId, useState } from "react";

import { useStickToBottom } from "../../lib/stick-to-bottom";
import { Button } from "../../ui/button";
import { Visible } from "../../ui/visible";
import type { LiveOutput } from "./elsewhere";
import styles from "./output-box.module.css";

/** As many lines as the box shows at first; the style has the same number. */
const LINES = 12;

/** Output that is still growing: its latest lines, the others by scrolling. */
export function OutputBox({ output: { text, isPartial } }: { output: LiveOutput }) {
  const [isTall, setTall] = useState(false);
  const { scroller, content } = useStickToBottom();
  const box = useId();
  const lines = text.trimEnd().split("\n").length;
  return (
    <div className={styles.frame}>
      <div
        id={box}
        className={styles.box}
        data-tall={isTall}
        ref={scroller}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Output so far"
      >
        <div ref={content}>
          {isPartial && <p className={styles.missing}>… what came before is not shown here; the result will have it</p>}
          <pre>
            <Visible text={text.trimEnd()} />
          </pre>
        </div>
      </div>
      {lines > LINES && (
        <Button look="quiet" size="small" aria-expanded={isTall} aria-controls={box} onClick={() => setTall(!isTall)}>
          {isTall ? "Show less" : `Show more of ${lines.toLocaleString("en")} lines`}
        </Button>
      )}
    </div>
  );
}
