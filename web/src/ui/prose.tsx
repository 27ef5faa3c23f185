import { BLANKS } from "../lib/visible-text";
import { Visible } from "./visible";
import styles from "./prose.module.css";

/** A sentence of ours in which `values` stand in backticks; they are set as code. Nothing else is markup. */
export function Prose({ text }: { text: string }) {
  const parts = text.split("`");
  // An odd backtick has no partner: then all of it is plain.
  if (parts.length % 2 === 0) return <Visible text={text} />;
  return parts.map((part, index) => {
    // The parts of a sentence never move: their place is their identity.
    const key = `${index}`;
    if (index % 2 === 0) return <Visible key={key} text={part} />;
    return (
      <code key={key} className={styles.value}>
        <Visible text={part} blanks={BLANKS} />
      </code>
    );
  });
}
