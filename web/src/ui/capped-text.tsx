import { useState } from "react";

import { cap } from "../lib/cap";
import { Button } from "./button";
import styles from "./capped-text.module.css";
import { Visible } from "./visible";

interface CappedTextProps {
  text: string;
  label: string;
  lines?: number;
  characters?: number;
}

/** Preformatted text that shows its beginning, says what is missing, and shows all on request. */
export function CappedText({ text, label, lines = 24, characters = 6000 }: CappedTextProps) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? text : cap(text, lines, characters);
  return (
    <div className={styles.capped}>
      <pre className={styles.text} role="region" aria-label={label}>
        <Visible text={shown} />
      </pre>
      {shown.length < text.length && (
        <Button look="quiet" size="small" onClick={() => setWhole(true)}>
          Show all ({text.length.toLocaleString("en")} characters)
        </Button>
      )}
    </div>
  );
}
