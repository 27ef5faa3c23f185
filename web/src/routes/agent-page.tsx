// The one page: conversations on the left, the transcript, and what waits for approval on the right.
import { useCallback, useEffect, useState } from "react";
import { useLocation } from "wouter";

import type { AgentSocket } from "../api/socket";
import { ProblemBanner } from "../features/agent/problem-banner";
import { PromptBox } from "../features/agent/prompt-box";
import type { RunSettings } from "../features/agent/run-settings";
import { useAgent } from "../features/agent/store";
import { Transcript } from "../features/agent/transcript";
import { Announcer } from "../features/approvals/announcer";
import { ApprovalPanel } from "../features/approvals/approval-panel";
import type { Decide } from "../features/approvals/approval-panel";
import { Notices } from "../features/approvals/notices";
import { shownEntries } from "../features/approvals/queue-state";
import { useApprovals } from "../features/approvals/store";
import { useSessions } from "../features/sessions/use-sessions";
import { useMedia } from "../lib/use-media";
import styles from "./agent-page.module.css";
import { useConnection, useLink } from "./connection";
import { SideBar } from "./side-bar";
import { SignInPage } from "./sign-in-page";
import { TopBar } from "./top-bar";
import { Welcome } from "./welcome";

export function AgentPage({ sessionId }: { sessionId: string | null }) {
  const socket = useConnection(sessionId);
  const link = useLink((state) => state.link);
  const isRunning = useAgent((state) => state.isRunning);
  const sessions = useSessions(`${sessionId} ${isRunning} ${link}`);
  const isWide = useMedia("(min-width: 1000px)");
  const [isSideOpen, setSideOpen] = useState(isWide);
  useTitleBadge();

  if (link === "unauthorized" || sessions.isUnauthorized) return <SignInPage />;
  return (
    <div className={styles.page}>
      <TopBar link={link} isSideOpen={isSideOpen} onToggleSide={() => setSideOpen(!isSideOpen)} />
      <div className={styles.columns}>
        {isSideOpen && (
          <SideBar {...sessions} currentId={sessionId} onLeave={() => !isWide && setSideOpen(false)} />
        )}
        <Conversation socket={socket} isLive={link === "live"} />
        <ApprovalPanel {...decideOver(socket)} />
      </div>
      <Notices />
      <Announcer />
    </div>
  );
}

function Conversation({ socket, isLive }: { socket: AgentSocket; isLive: boolean }) {
  const isDemo = useAgent((state) => state.server?.demo ?? false);
  const select = useApprovals((queue) => queue.select);
  const [, navigate] = useLocation();
  const onShowApproval = useCallback((requestId: string) => select(requestId), [select]);
  const onSend = (prompt: string, settings: RunSettings) => {
    if (!startRun(socket, prompt, settings)) return;
    // A new conversation is one from now on: it takes the place of the blank page in the address.
    navigate(`/agent/${encodeURIComponent(useAgent.getState().sessionId)}`, { replace: true });
  };
  return (
    <main className={styles.main}>
      {isDemo && <p className={styles.demo}>Demo model: scripted answers, no API key needed</p>}
      <Transcript onShowApproval={onShowApproval} welcome={<Welcome />} />
      <ProblemBanner />
      <PromptBox isLive={isLive} onSend={onSend} onStop={() => stopRun(socket)} />
    </main>
  );
}

function startRun(socket: AgentSocket, prompt: string, { mode, runsReads }: RunSettings): boolean {
  const { sessionId, isNew, sent } = useAgent.getState();
  const isSent = socket.send({
    command: "run",
    prompt,
    session_id: sessionId,
    continue: !isNew,
    permission_mode: mode,
    auto_approve_safe: runsReads,
  });
  if (isSent) sent(prompt);
  return isSent;
}

function stopRun(socket: AgentSocket) {
  socket.send({ command: "cancel", session_id: useAgent.getState().sessionId });
}

/** The digest goes along: the server refuses a decision on anything but what was shown. */
function decideOver(socket: AgentSocket): Decide {
  return {
    decide: ({ request }, decision, feedback) =>
      socket.send({
        command: "tool_approval_response",
        request_id: request.request_id,
        approved: decision === "approve",
        digest: request.digest,
        ...(decision === "reject" && feedback !== "" ? { feedback } : {}),
      }),
    approveAll: (sessionId) =>
      socket.send({ command: "approve_all", ...(sessionId === undefined ? {} : { session_id: sessionId }) }),
  };
}

function useTitleBadge() {
  const waiting = useApprovals((queue) => shownEntries(queue).length);
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Countersign` : "Countersign";
  }, [waiting]);
}
