// What holds in each workspace, and changing it. Every change is in the audit, by name.
import { useState } from "react";

import { describeError } from "../../api/client";
import type { Project, SettingsChange } from "../../api/projects";
import { ago, exactly } from "../../lib/time";
import { useNow } from "../../lib/use-now";
import { BLANKS } from "../../lib/visible-text";
import { Button } from "../../ui/button";
import { Visible } from "../../ui/visible";
import { ApprovalsSwitch } from "./approvals-switch";
import { useChangeSettings, useProjects } from "./queries";
import { RehearsalSwitch } from "./rehearsal-switch";
import { SandboxLine } from "./sandbox-line";
import styles from "./settings.module.css";
import { TimeLimits } from "./time-limits";

export function SettingsView() {
  const { projects, loadError, reload } = useProjects();
  return (
    <main className={styles.page}>
      <div className={styles.inner}>
        <header className={styles.header}>
          <h1>Settings</h1>
          <p>What holds in {projects && projects.length > 1 ? "each workspace" : "this workspace"}. Every change is recorded, with your name.</p>
        </header>
        {loadError !== null && (
          <div className={styles.problem} role="alert">
            <p>Could not load the settings: {loadError}</p>
            <Button size="small" onClick={reload}>
              Try again
            </Button>
          </div>
        )}
        {projects === null && loadError === null && <p className={styles.empty}>Loading the settings…</p>}
        {projects?.map((project) => (
          <Workspace key={project.project_id} project={project} />
        ))}
        {projects?.[0] && <SandboxLine sandbox={projects[0].server.sandbox} />}
      </div>
    </main>
  );
}

function Workspace({ project }: { project: Project }) {
  const { mutate, isPending, isSuccess, error } = useChangeSettings(project.project_id);
  const [done, setDone] = useState("");
  const onChange = (settings: SettingsChange, onceDone: string) => {
    setDone(onceDone);
    mutate(settings);
  };
  const parts = { project, isBusy: isPending, onChange };
  return (
    <article className={styles.workspace} aria-label={`Workspace ${project.name}`}>
      <header className={styles.name}>
        <h2>
          <Visible text={project.name} blanks={BLANKS} />
        </h2>
        <code>
          <Visible text={project.root} blanks={BLANKS} />
        </code>
      </header>
      <ApprovalsSwitch {...parts} />
      <RehearsalSwitch {...parts} />
      <TimeLimits {...parts} />
      <footer className={styles.last}>
        <LastChange project={project} />
        <span role="status" className={styles.done}>
          {isSuccess && done}
        </span>
      </footer>
      {error && (
        <p className={styles.problem} role="alert">
          That was not changed: {describeError(error)}
        </p>
      )}
    </article>
  );
}

function LastChange({ project: { changed_by: by, changed_at: at } }: { project: Project }) {
  const now = useNow(60_000);
  if (by === undefined || at === undefined) return <span>As it was made: nobody has changed anything.</span>;
  return (
    <span>
      Last changed by <Visible text={by} blanks={BLANKS} />,{" "}
      <time dateTime={at} title={exactly(at)}>
        {ago(at, now)}
      </time>
    </span>
  );
}
