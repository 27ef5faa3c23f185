// A conversation: its transcript and the prompt.
import { useCallback } from "react";
import { useLocation } from "wouter";

import type { AgentSocket } from "../api/socket";
import { ProblemBanner } from "../features/agent/problem-banner";
import { PromptBox } from "../features/agent/prompt-box";
import type { RunSettings } from "../features/agent/run-settings";
import { useAgent } from "../features/agent/store";
import { TodoBar } from "../features/agent/todo-bar";
import { Transcript } from "../features/agent/transcript";
import { useApprovals } from "../features/approvals/store";
import { withProject } from "../lib/project-address";
import styles from "./agent-page.module.css";
import { useConnection, useLink } from "./connection";
import { Shell } from "./shell";
import { Welcome } from "./welcome";

export function AgentPage({ sessionId }: { sessionId: string | null }) {
  const socket = useConnection(sessionId);
  const isLive = useLink((state) => state.link === "live");
  return (
    <Shell socket={socket} sessionId={sessionId} isConversation>
      <Conversation socket={socket} isLive={isLive} />
    </Shell>
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
    const { sessionId, projectId } = useAgent.getState();
    navigate(withProject(`/agent/${encodeURIComponent(sessionId)}`, projectId), { replace: true });
  };
  return (
    <main className={styles.main}>
      {isDemo && <p className={styles.demo}>Demo model: scripted answers, no API key needed</p>}
      <Transcript onShowApproval={onShowApproval} welcome={<Welcome />} />
      <TodoBar />
      <ProblemBanner />
      <PromptBox isLive={isLive} onSend={onSend} onStop={() => stopRun(socket)} />
    </main>
  );
}

function startRun(socket: AgentSocket, prompt: string, { chosenMode, runsReads }: RunSettings): boolean {
  const { sessionId, isNew, sent } = useAgent.getState();
  const isSent = socket.send({
    command: "run",
    prompt,
    session_id: sessionId,
    continue: !isNew,
    // Without one the conversation keeps its own, or gets what the settings say.
    ...(chosenMode === null ? {} : { permission_mode: chosenMode }),
    auto_approve_safe: runsReads,
  });
  if (isSent) sent(prompt);
  return isSent;
}

function stopRun(socket: AgentSocket) {
  socket.send({ command: "cancel", session_id: useAgent.getState().sessionId });
}
