// What a command did when it was tried out: on a copy, where nothing could come of it.
import type { ReactNode } from "react";

import type { Previewed, Rehearsal } from "../../../api/message";
import { Badge } from "../../../ui/badge";
import { CappedText } from "../../../ui/capped-text";
import { Prose } from "../../../ui/prose";
import { ChangedFiles } from "../diff/multi-diff-preview";
import styles from "./rehearsal-view.module.css";

interface RehearsalViewProps {
  rehearsal: Rehearsal;
  request: Pick<Previewed, "request_id" | "workspace">;
  onHidden: (lines: number) => void;
}

type Done = Extract<Rehearsal, { state: "done" }>;

export function RehearsalView({ rehearsal, request, onHidden }: RehearsalViewProps) {
  switch (rehearsal.state) {
    case "running":
      return (
        <Frame state="running" title="Rehearsing…">
          <p className={styles.note}>It runs in the sandbox, on a copy of the workspace and without the network. You need not wait for it.</p>
        </Frame>
      );
    case "impossible":
      return (
        <Frame state="impossible" title="Not rehearsed">
          <p className={styles.note}>
            <Prose text={`${sentence(rehearsal.reason)} A yes runs it for the first time.`} />
          </p>
        </Frame>
      );
    case "done":
      return <DoneView done={rehearsal} request={request} onHidden={onHidden} />;
  }
}

function DoneView({ done, request, onHidden }: { done: Done } & Omit<RehearsalViewProps, "rehearsal">) {
  const { files, folders, more_files: more } = done;
  return (
    <Frame state={done.keeps ? "kept" : "again"} title="Rehearsed" facts={<Facts done={done} />}>
      <p className={styles.verdict}>
        <Prose text={verdictOf(done)} />
      </p>
      <div data-beside>
        <CappedText label="Output of the rehearsal" text={done.output} lines={12} isSuspect />
      </div>
      {files.length > 0 && <ChangedFiles files={files} request={request} onHidden={onHidden} />}
      {(folders.length > 0 || more > 0) && (
        <ul className={styles.beside}>
          {folders.map((folder) => (
            <li key={folder}>
              <Prose text={folder} />
            </li>
          ))}
          {more > 0 && <li>{more.toLocaleString("en")} more files, not shown</li>}
        </ul>
      )}
    </Frame>
  );
}

function Facts({ done }: { done: Done }) {
  const count = done.files.length + done.more_files;
  const { added, removed } = done.diff_stat;
  return (
    <>
      <EndBadge done={done} />
      <span>{count === 0 ? "no file changed" : count === 1 ? "1 file changed" : `${count.toLocaleString("en")} files changed`}</span>
      {added + removed > 0 && (
        <span className={styles.lines}>
          <span className={styles.added}>+{added}</span> <span className={styles.removed}>−{removed}</span>
        </span>
      )}
      <span>{(done.took_ms / 1000).toFixed(1)} s</span>
    </>
  );
}

function EndBadge({ done: { exit_code: code, timed_out: timedOut, ended_by: by } }: { done: Done }) {
  if (timedOut) return <Badge tone="warn" symbol="◷">did not end</Badge>;
  if (code === 0) return <Badge tone="good" symbol="✓">exit code 0</Badge>;
  if (code === null) return <Badge tone="danger" symbol="✗">{by ?? "ended by a signal"}</Badge>;
  return <Badge tone="danger" symbol="✗">exit code {code}</Badge>;
}

/** What a yes does, before anything else: it is what is decided here. */
function verdictOf(done: Done): string {
  if (!done.keeps) return `A yes runs the command for real, because ${done.runs_again ?? "this cannot be kept"}`;
  if (done.files.length + done.folders.length === 0) return "It changed nothing. A yes takes this as its answer; the command is not run again.";
  return "A yes keeps exactly this result; the command is not run again.";
}

/** As the beginning of a sentence, with its end. */
function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function Frame({ state, title, facts, children }: { state: string; title: string; facts?: ReactNode; children: ReactNode }) {
  return (
    <section
      className={styles.rehearsal}
      data-state={state}
      // Only what is kept is what a yes would do.
      data-part={state === "kept" ? true : undefined}
      data-beside={state === "kept" ? undefined : true}
      aria-label="Rehearsal"
      aria-busy={state === "running"}
    >
      <header className={styles.header}>
        <h3 role="status">{title}</h3>
        {facts && <div className={styles.facts}>{facts}</div>}
      </header>
      {children}
    </section>
  );
}
