import { longLines } from "../lib/visible-text";
import styles from "./long-lines.module.css";

/** Says which lines of a text are so long that their end is easily missed; nothing when none is. */
export function LongLines({ text }: { text: string }) {
  const lines = longLines(text);
  if (lines.length === 0) return null;
  const [first, ...more] = lines as [(typeof lines)[number], ...typeof lines];
  const others = more.length > 0 ? `, and ${more.length} more long ${more.length === 1 ? "line" : "lines"}` : "";
  return (
    <p className={styles.long}>
      <span aria-hidden="true">↔ </span>
      Line {first.line.toLocaleString("en")} has {first.length.toLocaleString("en")} characters{others}
    </p>
  );
}
