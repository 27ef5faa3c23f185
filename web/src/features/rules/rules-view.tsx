// The rules of the project: what stands, changing it, and what it would do. Which of these is in the address.
import { useEffect, useRef } from "react";

import { describeError } from "../../api/client";
import type { RuleSet } from "../../api/rules";
import { Button } from "../../ui/button";
import { PageLink } from "../../ui/page-link";
import { Visible } from "../../ui/visible";
import type { Pictures } from "./check-answer";
import { useRuleDraft } from "./draft-store";
import { FileBanners } from "./file-banners";
import { HistoryReplay } from "./history-replay";
import { useRuleSet } from "./queries";
import { ProblemNote, RuleEditor } from "./rule-editor";
import { RuleList } from "./rule-list";
import styles from "./rules.module.css";
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
  const open = useRuleDraft((state) => state.open);
  const done = useRuleDraft((state) => state.done);
  const hasDraft = useRuleDraft((state) => state.draft !== null);
  useEffect(() => open(projectId), [projectId, open]);
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
        <Loaded projectId={projectId} tab={tab} sessionId={sessionId} {...pictures} />
      </div>
    </main>
  );
}

function Loaded({ projectId, ...rest }: Omit<RulesViewProps, "workspace">) {
  const { data: ruleSet, error, refetch } = useRuleSet(projectId);
  // The draft of the workspace that was open before is not this one's.
  const isDraftOpen = useRuleDraft((state) => state.projectId === projectId);
  if (!isDraftOpen || (ruleSet === undefined && error === null)) return <p className={styles.empty}>Loading the rules…</p>;
  return (
    <>
      {error !== null && (
        <div className={styles.banner} data-tone="danger" role="alert">
          <p>Could not load the rules: {describeError(error)}</p>
          <div>
            <Button size="small" onClick={() => void refetch()}>
              Try again
            </Button>
          </div>
        </div>
      )}
      {ruleSet && <Content key={projectId} projectId={projectId} ruleSet={ruleSet} {...rest} />}
    </>
  );
}

interface ContentProps extends Omit<RulesViewProps, "workspace"> {
  ruleSet: RuleSet;
}

function Content({ tab, sessionId, projectId, ruleSet, ...pictures }: ContentProps) {
  const problem = useRuleDraft((state) => state.problem);
  const rules = { projectId, ruleSet };
  switch (tab) {
    case "edit":
      return <RuleEditor {...rules} />;
    case "try":
      return <TryCall {...rules} {...pictures} />;
    case "history":
      return <HistoryReplay {...rules} />;
    default:
      return (
        <>
          {problem && <ProblemNote problem={problem} />}
          <FileBanners projectId={projectId} files={ruleSet.files} rules={ruleSet.rules} />
          <RuleList projectId={projectId} rules={ruleSet.rules} sessionId={sessionId} />
        </>
      );
  }
}
