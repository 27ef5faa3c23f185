// The rules of the project: what stands, changing it, and what it would do. Which of these is in the address.
import { useEffect, useRef } from "react";

import { Button } from "../../ui/button";
import { PageLink } from "../../ui/page-link";
import { Visible } from "../../ui/visible";
import type { Pictures } from "./check-answer";
import { FileBanners } from "./file-banners";
import { HistoryReplay } from "./history-replay";
import { ProblemNote, RuleEditor } from "./rule-editor";
import { RuleList } from "./rule-list";
import styles from "./rules.module.css";
import { useRules } from "./store";
import { TryCall } from "./try-call";

const TABS = [
  ["", "In force"],
  ["edit", "Edit"],
  ["try", "What would this do?"],
  ["history", "Try on history"],
] as const;

interface RulesViewProps extends Pictures {
  /** The workspace whose rules are shown, and what it is called. */
  projectId: string;
  workspace: string | null;
  /** What is shown, as the address has it. */
  tab: string;
  /** The conversation that is open. */
  sessionId: string;
}

export function RulesView({ projectId, workspace, tab, sessionId, ...pictures }: RulesViewProps) {
  const load = useRules((state) => state.load);
  const done = useRules((state) => state.done);
  const hasDraft = useRules((state) => state.draft !== null);
  useEffect(() => {
    void load(projectId);
  }, [projectId, load]);
  const tabs = useRef<HTMLElement>(null);
  // On a narrow screen they go on beyond its edge.
  useEffect(() => {
    const current = tabs.current?.querySelector(`a[data-tab="${tab}"]`);
    current?.scrollIntoView?.({ block: "nearest", inline: "nearest" });
  }, [tab]);
  return (
    <main className={styles.page}>
      <div className={styles.inner}>
        <header className={styles.header}>
          <h1>Rules</h1>
          <p>
            What runs without asking{workspace === null ? "" : <> in <Visible text={workspace} /></>}, what asks, and what never runs.
          </p>
        </header>
        <nav className={styles.tabs} aria-label="Rules" ref={tabs}>
          {TABS.map(([name, label]) => (
            <PageLink
              key={name}
              href={name === "" ? "/rules" : `/rules/${name}`}
              aria-current={name === tab ? "page" : undefined}
              data-tab={name}
            >
              {label}
              {name === "edit" && hasDraft && <span className={styles.dot} role="img" aria-label="unsaved draft" />}
            </PageLink>
          ))}
        </nav>
        <p className={styles.done} role="status">
          {done}
        </p>
        <Loaded tab={tab} sessionId={sessionId} {...pictures} />
      </div>
    </main>
  );
}

function Loaded({ tab, sessionId, ...pictures }: Omit<RulesViewProps, "projectId" | "workspace">) {
  const set = useRules((state) => state.set);
  const loadError = useRules((state) => state.loadError);
  const load = useRules((state) => state.load);
  const projectId = useRules((state) => state.projectId);
  if (set === null && loadError === null) return <p className={styles.empty}>Loading the rules…</p>;
  return (
    <>
      {loadError !== null && (
        <div className={styles.banner} data-tone="danger" role="alert">
          <p>Could not load the rules: {loadError}</p>
          <div>
            <Button size="small" onClick={() => void load(projectId)}>
              Try again
            </Button>
          </div>
        </div>
      )}
      {set && <Content tab={tab} sessionId={sessionId} {...pictures} />}
    </>
  );
}

function Content({ tab, sessionId, ...pictures }: Omit<RulesViewProps, "projectId" | "workspace">) {
  const set = useRules((state) => state.set);
  const problem = useRules((state) => state.problem);
  if (set === null) return null;
  switch (tab) {
    case "edit":
      return <RuleEditor />;
    case "try":
      return <TryCall {...pictures} />;
    case "history":
      return <HistoryReplay />;
    default:
      return (
        <>
          {problem && <ProblemNote problem={problem} />}
          <FileBanners files={set.files} rules={set.rules} />
          <RuleList rules={set.rules} sessionId={sessionId} />
        </>
      );
  }
}
