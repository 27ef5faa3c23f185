import { useId } from "react";
import { useLocation, useSearchParams } from "wouter";

import { withProject } from "../../lib/project-address";
import { Icon } from "../../ui/icon";
import { useWorkspaces } from "./queries";
import styles from "./workspace-switch.module.css";

interface WorkspaceSwitchProps {
  /** How many requests wait, by the id of their workspace. */
  waiting: Readonly<Record<string, number>>;
}

/** Goes to another workspace: to the same page of it, or to a new conversation in it. */
export function WorkspaceSwitch({ waiting }: WorkspaceSwitchProps) {
  const { projects, open } = useWorkspaces();
  const [path, navigate] = useLocation();
  const [params] = useSearchParams();
  const field = useId();
  const current = open?.project;
  if (!current) return null;
  const go = (id: string) => {
    const base = path.startsWith("/agent") ? "/agent" : path;
    // A filter of the history is kept, one conversation or call is not: they are not in the other workspace.
    const kept = new URLSearchParams([...params].filter(([name]) => !["project", "session", "call"].includes(name))).toString();
    navigate(withProject(kept === "" ? base : `${base}?${kept}`, id));
  };
  return (
    <div className={styles.switch} title={current.root}>
      <Icon name="folder" />
      <label className="visually-hidden" htmlFor={field}>
        Workspace
      </label>
      <select id={field} value={current.project_id} disabled={projects.length < 2} onChange={(event) => go(event.target.value)}>
        {projects.map(({ project_id: id, name }) => (
          <option key={id} value={id}>
            {waiting[id] ? `${name} (${waiting[id]} waiting)` : name}
          </option>
        ))}
      </select>
    </div>
  );
}
