import { BLANKS } from "../../lib/visible-text";
import { Visible } from "../../ui/visible";
import styles from "./rules.module.css";

/** A rule as it is written, to the letter. */
export function RuleText({ text }: { text: string }) {
  return (
    <code className={styles.rule}>
      <Visible text={text} blanks={BLANKS} />
    </code>
  );
}
