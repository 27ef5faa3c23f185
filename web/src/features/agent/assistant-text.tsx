import { Suspense, lazy, memo, useDeferredValue } from "react";

import { markdownBlocks } from "../../lib/markdown-blocks";
import { Visible } from "../../ui/visible";
import styles from "./assistant-text.module.css";

const Markdown = lazy(() => import("./markdown"));

/** Plain until the Markdown chunk is there: the words do not wait for their looks. */
export const AssistantText = memo(function AssistantText({ text }: { text: string }) {
  return (
    <Suspense fallback={<p className={styles.plain}><Visible text={text} /></p>}>
      <Markdown text={text} />
    </Suspense>
  );
});

/**
 * Text that still grows. Finished blocks keep their rendering, so each new word costs one block, and
 * a busy browser may skip states in between.
 */
export function LiveText({ text, isPartial }: { text: string; isPartial: boolean }) {
  const shown = useDeferredValue(text);
  return (
    <div className={styles.live} data-live="">
      {isPartial && <p className={styles.partial}>… the beginning of this answer follows when it is complete</p>}
      {markdownBlocks(shown).map((block, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- blocks are only appended: their place is their identity
        <AssistantText key={index} text={block} />
      ))}
    </div>
  );
}
