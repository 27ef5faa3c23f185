import { Link as RouteLink, useRoute } from "wouter";

import type { Link } from "../api/socket";
import { useAgent } from "../features/agent/store";
import { WaitingButton } from "../features/approvals/waiting-button";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { Logo } from "../ui/logo";
import { ThemeToggle } from "../ui/theme-toggle";
import { Visible } from "../ui/visible";
import styles from "./top-bar.module.css";

interface TopBarProps {
  link: Link;
  isSideOpen: boolean;
  onToggleSide: () => void;
}

export function TopBar({ link, isSideOpen, onToggleSide }: TopBarProps) {
  const server = useAgent((state) => state.server);
  const [isAtRules] = useRoute("/rules/*?");
  const [isAtHistory] = useRoute("/history");
  const [isAtSettings] = useRoute("/settings");
  return (
    <header className={styles.bar}>
      <Button look="quiet" size="icon" aria-expanded={isSideOpen} aria-label="Conversations" onClick={onToggleSide}>
        <Icon name="panel" />
      </Button>
      <RouteLink href="/agent" className={styles.brand ?? ""}>
        <Logo size={22} />
        <span>Countersign</span>
      </RouteLink>
      <RouteLink href="/rules" className={styles.link ?? ""} aria-current={isAtRules ? "page" : undefined}>
        Rules
      </RouteLink>
      <RouteLink href="/history" className={styles.link ?? ""} aria-current={isAtHistory ? "page" : undefined}>
        History
      </RouteLink>
      <RouteLink href="/settings" className={styles.link ?? ""} aria-current={isAtSettings ? "page" : undefined}>
        Settings
      </RouteLink>
      {server && (
        <span className={styles.facts}>
          <span title="Workspace">
            <Visible text={server.root} />
          </span>
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
