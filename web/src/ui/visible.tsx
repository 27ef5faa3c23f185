import { memo } from "react";

import { visibleSegments } from "../lib/visible-text";
import type { VisibleOptions } from "../lib/visible-text";
import styles from "./visible.module.css";

interface VisibleProps extends VisibleOptions {
  text: string;
}

/** Text that hides nothing: what the eye would miss is drawn as a chip. */
export const Visible = memo(function Visible({ text, ...options }: VisibleProps) {
  return visibleSegments(text, options).map((segment, index) => {
    // Segments have no name of their own; their place is their identity.
    const key = `${index}`;
    if (segment.kind === "text") return segment.text;
    if (segment.kind === "mixed") {
      return (
        <span key={key} className={styles.mixed} title="This word mixes alphabets: a letter may pose as another">
          {segment.text}
          <span className={styles.chip}>⟨mixed alphabets⟩</span>
        </span>
      );
    }
    return (
      <span key={key} className={styles.chip} title={segment.name}>
        ⟨{segment.label}⟩
      </span>
    );
  });
});
