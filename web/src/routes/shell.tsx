// What every address has around it: the bar, conversations on the left, and what waits for approval on the right.
import { useEffect, useState } from "react";
import type { ReactNode } from "react";

import type { AgentSocket } from "../api/socket";
import { useAgent } from "../features/agent/store";
import { Announcer } from "../features/approvals/announcer";
import { ApprovalPanel } from "../features/approvals/approval-panel";
import type { Decide } from "../features/approvals/approval-panel";
import { belongingText } from "../features/approvals/card/belonging-line";
import { Notices } from "../features/approvals/notices";
import { shownEntries } from "../features/approvals/queue/queue-order";
import { currentEntry } from "../features/approvals/queue/queue-state";
import { useApprovals } from "../features/approvals/store";
import { useSessions } from "../features/sessions/queries";
import { useWorkspaces } from "../features/workspaces/queries";
import type { OpenWorkspace } from "../features/workspaces/queries";
import { UnknownWorkspace } from "../features/workspaces/unknown-workspace";
import { useProjectId } from "../lib/project-address";
import { useMedia } from "../lib/use-media";
import { visibleSegments } from "../lib/visible-text";
import { useLink } from "./connection";
import { LinkProblem } from "./link-problem";
import styles from "./shell.module.css";
import { SideBar } from "./side-bar";
import { SignInPage } from "./sign-in-page";
import { TopBar } from "./top-bar";
import { UnaskedBanner } from "./unasked-banner";

interface ShellProps {
  socket: AgentSocket;
  /** The conversation in the address. */
  sessionId: string | null;
  /** Whether a conversation is shown: then what waits has a place beside it. Elsewhere it lies over the page. */
  isConversation?: boolean;
  children: ReactNode;
}

export function Shell({ socket, sessionId, isConversation = false, children }: ShellProps) {
  const link = useLink((state) => state.link);
  const projectId = useProjectId();
  const sessions = useSessions(projectId);
  const isWide = useMedia("(min-width: 1200px)");
  const [isSideOpen, setSideOpen] = useState(isWide);
  const { open, projects } = useWorkspaces();
  useQueuePlace(open, isConversation);
  useTitle();

  if (link === "unauthorized" || sessions.isUnauthorized) return <SignInPage />;
  return (
    <div className={styles.page}>
      <TopBar link={link} isSideOpen={isSideOpen} onToggleSide={() => setSideOpen(!isSideOpen)} />
      <UnaskedBanner />
      <LinkProblem />
      <div className={styles.columns}>
        {isSideOpen && (
          <SideBar {...sessions} currentId={sessionId} onLeave={() => !isWide && setSideOpen(false)} />
        )}
        {open !== null && open.project === null ? <UnknownWorkspace asked={open.asked} projects={projects} /> : children}
        <ApprovalPanel isReserved={isConversation} {...decideOver(socket)} />
      </div>
      <Notices />
      <Announcer />
    </div>
  );
}

/** Tells the queue what is open: its requests come first. */
function useQueuePlace(open: OpenWorkspace | null, isConversation: boolean) {
  const openSession = useAgent((state) => state.sessionId);
  const standAt = useApprovals((queue) => queue.standAt);
  const openId = open?.project?.project_id ?? null;
  useEffect(
    () => standAt({ projectId: openId, sessionId: isConversation ? openSession : null }),
    [standAt, openId, openSession, isConversation],
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
    approveAll: (requests) => socket.send({ command: "approve_all", requests }),
  };
}

/** A title shows text as it is; what the eye would miss is spelled out. */
function spelledOut(text: string): string {
  return visibleSegments(text, {})
    .map((segment) => ("label" in segment ? `⟨${segment.label}⟩` : segment.text))
    .join("");
}

/** A tab that is not looked at says how much waits in it, and what and where the first of it is. */
function useTitle() {
  const waiting = useApprovals((queue) => shownEntries(queue).length);
  const first = useApprovals((queue) => {
    const entry = currentEntry(queue);
    return entry && `${entry.request.tool_name} · ${belongingText(entry.request)}`;
  });
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) ${first === null ? "" : `${spelledOut(first)} – `}Countersign` : "Countersign";
  }, [waiting, first]);
}
