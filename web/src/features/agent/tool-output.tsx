import { cap } from "../../lib/cap";
import { Visible } from "../../ui/visible";
import styles from "./tool-output.module.css";

/** Enough to see how it went; the whole is one click away. */
const LINES = 5;
const CHARACTERS = 600;

/** The first lines of what a call came back with, for when they are what one wants to know. */
export function ToolOutput({ text }: { text: string }) {
  const whole = text.trimEnd();
  if (whole === "") return null;
  const shown = cap(whole, LINES, CHARACTERS);
  return (
    <pre className={styles.output}>
      <Visible text={shown} />
      {shown.length < whole.length && <span className={styles.more}> …</span>}
    </pre>
  );
}
