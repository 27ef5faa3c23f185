// A text with Markdown's looks and none of its powers: no link can be followed, nothing is loaded, nothing is hidden.
import { memo } from "react";

import { markedBlocks } from "../lib/marked-text";
import type { Block, Span } from "../lib/marked-text";
import { BLANKS } from "../lib/visible-text";
import styles from "./marked-text.module.css";
import { Visible } from "./visible";

export const MarkedText = memo(function MarkedText({ text, label }: { text: string; label: string }) {
  return (
    <div className={styles.text} role="group" aria-label={label}>
      {markedBlocks(text).map((block, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- the text never changes: a block's place is its identity
        <Marked key={index} block={block} />
      ))}
    </div>
  );
});

function Marked({ block }: { block: Block }) {
  switch (block.kind) {
    case "heading":
      // The page has headings of its own: this one only looks like one.
      return (
        <p className={styles.heading} data-level={block.level}>
          <Spans spans={block.spans} />
        </p>
      );
    case "item":
      return (
        <p className={styles.item} data-depth={block.depth}>
          <span className={styles.mark}>{/\d/.test(block.mark) ? block.mark : "•"}</span>
          <span>
            <Spans spans={block.spans} />
          </span>
        </p>
      );
    case "plain":
      return (
        <div className={styles.plain}>
          {block.about !== "" && (
            <span className={styles.about}>
              <Visible text={block.about} blanks={BLANKS} />
            </span>
          )}
          <pre>
            <Visible text={block.text} blanks={BLANKS} indent />
          </pre>
        </div>
      );
    case "rule":
      return <hr className={styles.rule} />;
    default:
      return (
        <p className={block.kind === "quote" ? styles.quote : undefined}>
          <Spans spans={block.spans} />
        </p>
      );
  }
}

function Spans({ spans }: { spans: Span[] }) {
  return spans.map((span, index) => {
    // The parts of a line never move: their place is their identity.
    const key = `${index}`;
    const text = <Visible key={key} text={span.text} blanks={BLANKS} />;
    if (span.kind === "code") return <code key={key}>{text}</code>;
    return span.kind === "strong" ? <strong key={key}>{text}</strong> : text;
  });
}
