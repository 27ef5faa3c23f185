// Calls as the server lists them, for tests.
import type { Execution } from "../api/executions";

export function execution(change: Partial<Execution> = {}): Execution {
  return {
    tool_id: "e1",
    approval_id: "q1",
    tool_use_id: "t1",
    session_id: "s1",
    run_id: "r1",
    origin: "agent",
    tool_name: "Write",
    tool_input: { file_path: "note.txt", content: "hello\n" },
    status: "completed",
    risk_level: "MEDIUM",
    requires_approval: true,
    summary: "Write `note.txt`",
    decided_by: "Ana",
    decided_at: "2026-05-04T12:00:05Z",
    result: "Wrote 6 characters",
    error: null,
    execution_time_ms: 41,
    approved_at: "2026-05-04T12:00:05Z",
    completed_at: "2026-05-04T12:00:06Z",
    created_at: "2026-05-04T12:00:00Z",
    workspace: { project_id: "p1", name: "shop", root: "/w" },
    conversation: { session_id: "s1", title: "Write a note" },
    agent_name: "Countersign agent",
    ...change,
  };
}

/** Calls named by letters: `a` is the oldest, each further one a minute younger. */
export function executions(names: string, change: Partial<Execution> = {}): Execution[] {
  return Array.from(names, (name) => {
    const minute = String(name.charCodeAt(0) - 97).padStart(2, "0");
    return execution({ tool_id: name, created_at: `2026-05-04T12:${minute}:00Z`, ...change });
  });
}
