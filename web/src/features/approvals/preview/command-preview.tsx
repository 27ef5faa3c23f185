import { previewOf } from "../../../api/message";
import type { Origin, Previewed } from "../../../api/message";
import { BLANKS } from "../../../lib/visible-text";
import { LongLines } from "../../../ui/long-lines";
import { Prose } from "../../../ui/prose";
import { Visible } from "../../../ui/visible";
import { CommandParts } from "./command-parts";
import styles from "./command-preview.module.css";
import { RehearsalView } from "./rehearsal-view";

interface CommandPreviewProps {
  request: Previewed;
  onHidden: (lines: number) => void;
}

/** The whole command, wrapped and never cut: what is not seen must not run. */
export function CommandPreview({ request, onHidden }: CommandPreviewProps) {
  const { command = "", canonical, cwd, warnings = [], parts = [], timeout_ms: timeout, rehearsal } = previewOf(request);
  return (
    <section className={styles.preview} aria-label="Command">
      <div className={styles.command} dir="ltr" data-part>
        <span className={styles.prompt} aria-hidden="true">
          $
        </span>
        <pre>
          <Visible text={command} blanks={BLANKS} emptyLines />
        </pre>
      </div>
      <LongLines text={command} />
      {warnings.length > 0 && (
        <ul className={styles.warnings}>
          {warnings.map((warning) => (
            <li key={warning}>
              <Prose text={warning} />
            </li>
          ))}
        </ul>
      )}
      {canonical !== undefined && canonical !== command && <CanonicalForm text={canonical} />}
      {rehearsal && <RehearsalView rehearsal={rehearsal} request={request} onHidden={onHidden} />}
      <CommandParts parts={parts} />
      <dl className={styles.facts}>
        <Folder cwd={cwd} origin={request.origin} />
        {timeout ? (
          <div>
            <dt>Time limit</dt>
            <dd>{timeout / 1000} s</dd>
          </div>
        ) : null}
      </dl>
    </section>
  );
}

/** How the command was read. A yes runs what was written; without a question this form would run. */
function CanonicalForm({ text }: { text: string }) {
  return (
    <details className={styles.canonical}>
      <summary>As Countersign reads it</summary>
      <pre dir="ltr">
        <Visible text={text} blanks={BLANKS} emptyLines />
      </pre>
    </details>
  );
}

/** The folder that the server knows is not on the client's machine. */
function Folder({ cwd, origin }: { cwd: string | undefined; origin: Origin }) {
  const folder = origin === "client" ? "the project’s folder on the client" : cwd;
  if (!folder) return null;
  return (
    <div>
      <dt>Runs in</dt>
      <dd>
        <Visible text={folder} />
      </dd>
    </div>
  );
}
