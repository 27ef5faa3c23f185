
import { SessionList } from "../features/sessions/session-list";
import type { Sessions } from "../features/sessions/queries";
import { WorkspaceSwitch } from "../features/workspaces/workspace-switch";
import { Icon } from "../ui/icon";
import { PageLink } from "../ui/page-link";
import styles from "./side-bar.module.css";
import { useWaitingByWorkspace } from "./waiting";

interface SideBarProps extends Sessions {
  currentId: string | null;
  /** A conversation was chosen, or the page beside the bar was touched. */
  onLeave: () => void;
}

export function SideBar({ sessions, error, currentId, onLeave }: SideBarProps) {
  return (
    <>
      <nav className={styles.bar} aria-label="Conversations">
        <div className={styles.workspace}>
          <WorkspaceSwitch waiting={useWaitingByWorkspace()} />
        </div>
        <PageLink href="/agent" className={styles.new} onClick={onLeave}>
          <Icon name="plus" /> New conversation
        </PageLink>
        <SessionList sessions={sessions} error={error} currentId={currentId} onChoose={onLeave} />
      </nav>
      {/* Only where the bar lies over the page; see the style. */}
      <button type="button" className={styles.scrim} aria-label="Close conversations" onClick={onLeave} />
    </>
  );
}
