
import type { SessionView } from "../../api/message";
import { ago } from "../../lib/time";
import { useNow } from "../../lib/use-now";
import { PageLink } from "../../ui/page-link";
import { Visible } from "../../ui/visible";
import styles from "./session-list.module.css";

interface SessionListProps {
  sessions: readonly SessionView[];
  error: string | null;
  currentId: string | null;
  onChoose: () => void;
}

export function SessionList({ sessions, error, currentId, onChoose }: SessionListProps) {
  const now = useNow(30_000);
  if (error !== null) return <p className={styles.empty}>Could not load: {error}</p>;
  if (sessions.length === 0) return <p className={styles.empty}>Earlier conversations appear here.</p>;
  return (
    <ul className={styles.list}>
      {sessions.map((session) => (
        <li key={session.session_id}>
          <PageLink
            href={`/agent/${encodeURIComponent(session.session_id)}`}
            className={styles.link}
            aria-current={session.session_id === currentId ? "page" : undefined}
            onClick={onChoose}
          >
            <span className={styles.title}>
              <Visible text={session.title || "Untitled"} />
            </span>
            <span className={styles.when}>
              {session.active && (
                <span className={styles.active}>
                  <span aria-hidden="true">● </span>running ·{" "}
                </span>
              )}
              {ago(session.updated_at, now)}
            </span>
          </PageLink>
        </li>
      ))}
    </ul>
  );
}
