import { useEffect } from "react";

import { classNames } from "../../lib/class-names";
import { Visible } from "../../ui/visible";
import styles from "./notices.module.css";
import type { Notice } from "./queue/queue-state";
import { useApprovals } from "./store";

const SHOWN_MS = 7000;
const SYMBOLS = { good: "✓", bad: "✕", neutral: "–" } as const;

/** What others decided while we looked. */
export function Notices() {
  const notices = useApprovals((queue) => queue.notices);
  return (
    <div className={styles.notices} role="status">
      {notices.map((notice) => (
        <NoticeLine key={notice.key} notice={notice} />
      ))}
    </div>
  );
}

function NoticeLine({ notice }: { notice: Notice }) {
  const dismiss = useApprovals((queue) => queue.dismiss);
  useEffect(() => {
    const timer = setTimeout(() => dismiss(notice.key), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice.key, dismiss]);
  return (
    <p className={classNames(styles.notice, styles[notice.tone])}>
      <span aria-hidden="true">{SYMBOLS[notice.tone]}</span> <Visible text={notice.text} />
    </p>
  );
}
