import { useRoute } from "wouter";

import type { Link } from "../api/socket";
import { useAgent } from "../features/agent/store";
import { WaitingButton } from "../features/approvals/waiting-button";
import { WorkspaceSwitch } from "../features/workspaces/workspace-switch";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { Logo } from "../ui/logo";
import { PageLink } from "../ui/page-link";
import { ThemeToggle } from "../ui/theme-toggle";
import styles from "./top-bar.module.css";
import { useWaitingByWorkspace } from "./waiting";

interface TopBarProps {
  link: Link;
  isSideOpen: boolean;
  onToggleSide: () => void;
}

export function TopBar({ link, isSideOpen, onToggleSide }: TopBarProps) {
  const server = useAgent((state) => state.server);
  const waiting = useWaitingByWorkspace();
  const [isAtRules] = useRoute("/rules/*?");
  const [isAtHistory] = useRoute("/history");
  const [isAtSettings] = useRoute("/settings");
  return (
    <header className={styles.bar}>
      <Button look="quiet" size="icon" aria-expanded={isSideOpen} aria-label="Conversations" onClick={onToggleSide}>
        <Icon name="panel" />
      </Button>
      <PageLink href="/agent" className={styles.brand}>
        <Logo size={22} />
        <span>Countersign</span>
      </PageLink>
      <PageLink href="/rules" className={styles.link} aria-current={isAtRules ? "page" : undefined}>
        Rules
      </PageLink>
      <PageLink href="/history" className={styles.link} aria-current={isAtHistory ? "page" : undefined}>
        History
      </PageLink>
      <PageLink href="/settings" className={styles.link} aria-current={isAtSettings ? "page" : undefined}>
        Settings
      </PageLink>
      <span className={styles.workspace}>
        <WorkspaceSwitch waiting={waiting} />
      </span>
      {server && (
        <span className={styles.facts}>
          <span title="Model">{server.model}</span>
        </span>
      )}
      <span className={styles.space} />
      <WaitingButton />
      <LinkStatus link={link} />
      <ThemeToggle />
    </header>
  );
}

const WORDS: Record<Link, string> = {
  connecting: "Connecting…",
  "catching-up": "Connecting…",
  live: "Connected",
  reconnecting: "Reconnecting…",
  unauthorized: "Signed out",
};

function LinkStatus({ link }: { link: Link }) {
  return (
    <span className={styles.status} role="status" data-link={link}>
      <span className={styles.dot} aria-hidden="true" />
      <span className={styles.word}>{WORDS[link]}</span>
    </span>
  );
}
