import { useState } from "react";

import { cap } from "../lib/cap";
import { BLANKS } from "../lib/visible-text";
import { Button } from "./button";
import styles from "./capped-text.module.css";
import { LongLines } from "./long-lines";
import { Visible } from "./visible";

interface CappedTextProps {
  text: string;
  label: string;
  lines?: number;
  characters?: number;
  /** Whether it may try to hide something: then long runs of blanks are counted and long lines flagged. */
  isSuspect?: boolean;
}

/** Preformatted text that shows its beginning, says what is missing, and shows all on request. */
export function CappedText({ text, label, lines = 24, characters = 6000, isSuspect = false }: CappedTextProps) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? text : cap(text, lines, characters);
  return (
    <div className={styles.capped} data-part>
      <pre className={styles.text} role="region" aria-label={label}>
        <Visible text={shown} {...(isSuspect ? { blanks: BLANKS, indent: true } : {})} />
      </pre>
      {isSuspect && <LongLines text={shown} />}
      {shown.length < text.length && (
        <Button look="quiet" size="small" data-hides onClick={() => setWhole(true)}>
          Show all ({text.length.toLocaleString("en")} characters)
        </Button>
      )}
    </div>
  );
}
