// The place in a diff where lines are missing, and the way to them.
import { useLayoutEffect, useRef } from "react";

import { Button } from "../../../ui/button";
import { DIFF_PAGE_LINES } from "../queries";
import styles from "./diff-preview.module.css";
import type { Rest } from "./use-diff";

interface LeftOutProps {
  missing: number;
  rest: Rest | null;
}

export function LeftOut({ missing, rest }: LeftOutProps) {
  if (rest) return <Loader missing={missing} rest={rest} />;
  return <p className={styles.omitted}>… {lineCount(missing)} left out</p>;
}

function Loader({ missing, rest }: { missing: number; rest: Rest }) {
  const status = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => {
    // The button goes with the last line; the focus must not go with it.
    const isLost = document.activeElement === document.body || document.activeElement === null;
    if (missing === 0 && isLost) status.current?.focus({ preventScroll: true });
  }, [missing]);
  return (
    <div className={styles.omitted} data-whole={missing === 0}>
      {missing > 0 && (
        // Not `disabled`: that would take the focus away while it loads.
        <Button size="small" data-hides={rest.error === null ? true : undefined} aria-disabled={rest.isLoading} onClick={rest.load}>
          {rest.isBegun ? `Show next ${Math.min(DIFF_PAGE_LINES, missing).toLocaleString("en")}` : `Show ${lineCount(missing)} left out`}
        </Button>
      )}
      <p ref={status} role="status" aria-busy={rest.isLoading} tabIndex={-1}>
        {statusOf(missing, rest)}
      </p>
      {rest.error && (
        <p className={styles.failure} role="alert">
          These lines could not be loaded: {rest.error}.
        </p>
      )}
    </div>
  );
}

function statusOf(missing: number, { total, isBegun, isLoading, error }: Rest): string {
  if (isLoading) return "Loading…";
  if (missing === 0) return `All ${lineCount(total)} of this diff are shown.`;
  if (isBegun) return `${lineCount(missing)} still left out`;
  return missing > DIFF_PAGE_LINES && !error ? `${DIFF_PAGE_LINES.toLocaleString("en")} at a time` : "";
}

function lineCount(lines: number): string {
  return `${lines.toLocaleString("en")} ${lines === 1 ? "line" : "lines"}`;
}
