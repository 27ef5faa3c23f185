import type { Project } from "../../api/projects";
import { BLANKS } from "../../lib/visible-text";
import { PageLink } from "../../ui/page-link";
import { Visible } from "../../ui/visible";
import styles from "./unknown-workspace.module.css";

/** The address names a workspace that the server does not have: says so, and offers those it has. */
export function UnknownWorkspace({ asked, projects }: { asked: string; projects: readonly Project[] }) {
  return (
    <main className={styles.page}>
      <h1>No such workspace</h1>
      <p>
        The server knows no workspace by{" "}
        <code>
          <Visible text={asked} blanks={BLANKS} />
        </code>
        , which the address names. It may have been started with other folders since.
      </p>
      <ul className={styles.list} aria-label="Workspaces of this server">
        {projects.map(({ project_id: id, name, root }) => (
          <li key={id}>
            <PageLink href="/agent" projectId={id}>
              <Visible text={name} blanks={BLANKS} />
            </PageLink>
            <code>
              <Visible text={root} blanks={BLANKS} />
            </code>
          </li>
        ))}
      </ul>
    </main>
  );
}
