// What every address has around it: the bar, conversations on the left, and what waits for approval on the right.
import { useEffect, useState } from "react";
import type { ReactNode } from "react";

import type { AgentSocket } from "../api/socket";
import { useAgent } from "../features/agent/store";
import { Announcer } from "../features/approvals/announcer";
import { ApprovalPanel } from "../features/approvals/approval-panel";
import type { Decide } from "../features/approvals/approval-panel";
import { Notices } from "../features/approvals/notices";
import { shownEntries } from "../features/approvals/queue-state";
import type { Queue } from "../features/approvals/queue-state";
import { useApprovals } from "../features/approvals/store";
import { useSessions } from "../features/sessions/use-sessions";
import { useMedia } from "../lib/use-media";
import { useLink } from "./connection";
import styles from "./shell.module.css";
import { SideBar } from "./side-bar";
import { SignInPage } from "./sign-in-page";
import { TopBar } from "./top-bar";

interface ShellProps {
  socket: AgentSocket;
  /** The conversation in the address. */
  sessionId: string | null;
  children: ReactNode;
}

export function Shell({ socket, sessionId, children }: ShellProps) {
  const link = useLink((state) => state.link);
  const isRunning = useAgent((state) => state.isRunning);
  const askers = useApprovals(askingSessions);
  const sessions = useSessions(`${sessionId} ${isRunning} ${link} ${askers}`);
  const isWide = useMedia("(min-width: 1000px)");
  const [isSideOpen, setSideOpen] = useState(isWide);
  useTitleBadge();

  if (link === "unauthorized" || sessions.isUnauthorized) return <SignInPage />;
  return (
    <div className={styles.page}>
      <TopBar link={link} isSideOpen={isSideOpen} onToggleSide={() => setSideOpen(!isSideOpen)} />
      <UnaskedBanner />
      <div className={styles.columns}>
        {isSideOpen && (
          <SideBar {...sessions} currentId={sessionId} onLeave={() => !isWide && setSideOpen(false)} />
        )}
        {children}
        <ApprovalPanel {...decideOver(socket)} />
      </div>
      <Notices />
      <Announcer />
    </div>
  );
}

/** Wherever one is: while nobody is asked, everybody is told. */
function UnaskedBanner() {
  const isUnasked = useAgent((state) => state.server?.approvals === "off");
  if (!isUnasked) return null;
  return (
    <p className={styles.unasked} role="alert">
      Approvals are off: calls run without asking. What is denied stays denied, and every call is recorded.
    </p>
  );
}

/** The digest goes along: the server refuses a decision on anything but what was shown. */
function decideOver(socket: AgentSocket): Decide {
  return {
    decide: ({ request }, decision, feedback, { grant, edited }) =>
      socket.send({
        command: "tool_approval_response",
        request_id: request.request_id,
        approved: decision === "approve",
        digest: request.digest,
        ...(feedback === "" ? {} : { feedback }),
        ...grant,
        ...(edited === undefined ? {} : { edited_input: edited.input }),
      }),
    approveAll: (sessionId) =>
      socket.send({ command: "approve_all", ...(sessionId === undefined ? {} : { session_id: sessionId }) }),
  };
}

/** The conversations that wait for somebody: one that began elsewhere is heard of here first. */
function askingSessions(queue: Pick<Queue, "entries">): string {
  return [...new Set(shownEntries(queue).map(({ request }) => request.session_id))].toSorted().join(" ");
}

function useTitleBadge() {
  const waiting = useApprovals((queue) => shownEntries(queue).length);
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Countersign` : "Countersign";
  }, [waiting]);
}
