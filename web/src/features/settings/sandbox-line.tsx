// Where commands run at this server, in one quiet line.
import type { Project } from "../../api/projects";
import { BLANKS } from "../../lib/visible-text";
import { Visible } from "../../ui/visible";
import styles from "./settings.module.css";

type Sandbox = Project["server"]["sandbox"];

const SAID: Record<Sandbox["level"], string> = {
  full: "Commands run in a sandbox: bubblewrap, Landlock and seccomp.",
  view: "Commands run in a sandbox: bubblewrap and seccomp, without Landlock.",
  fence: "Commands run behind a fence: they cannot write outside the workspace and have no network, but see its keys.",
  none: "There is no sandbox: a command that is approved can do anything its user can.",
};

export function SandboxLine({ sandbox: { level, why } }: { sandbox: Sandbox }) {
  return (
    <p className={styles.server}>
      {SAID[level]}
      {why !== undefined && (
        <>
          {" ("}
          <Visible text={why} blanks={BLANKS} />)
        </>
      )}
    </p>
  );
}
