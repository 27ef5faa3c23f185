import type { RefObject } from "react";

import { useLinesBelow } from "../../../lib/use-lines-below";
import { Button } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import styles from "./more-below.module.css";

/** A little less than a screenful, so that the last line seen is the first of the next look. */
const PAGE = 0.85;

interface MoreBelowProps {
  scroller: RefObject<HTMLElement | null>;
  content: RefObject<HTMLElement | null>;
}

/** Says that what will run goes on below the edge, about how far, and goes there. */
export function MoreBelow({ scroller, content }: MoreBelowProps) {
  const lines = useLinesBelow(scroller, content);
  if (lines === 0) return null;
  const onClick = () => {
    const frame = scroller.current;
    frame?.scrollBy({ top: frame.clientHeight * PAGE });
    // The button goes when the end is in view; the focus must not go with it.
    frame?.focus({ preventScroll: true });
  };
  return (
    <div className={styles.edge}>
      <Button size="small" className={styles.more} onClick={onClick}>
        <Icon name="down" /> About {lines.toLocaleString("en")} more {lines === 1 ? "line" : "lines"} below
      </Button>
    </div>
  );
}
