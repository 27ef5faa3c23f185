// What an undo would do, file by file, and the button that does it.
import { useState } from "react";

import { Refused, describeError } from "../../api/client";
import type { AskedFor } from "../../api/executions";
import type { UndoFile, UndoPlan, UndoScope, Undone } from "../../api/undo";
import { Button } from "../../ui/button";
import { Sheet } from "../../ui/sheet";
import { Visible } from "../../ui/visible";
import type { Pictures } from "./pictures";
import { useCarryOutUndo, useUndoPlan } from "./queries";
import styles from "./undo-sheet.module.css";

interface UndoSheetProps extends Pick<Pictures, "showPreview"> {
  scope: UndoScope;
  onClose: () => void;
}

export function UndoSheet({ scope, showPreview, onClose }: UndoSheetProps) {
  const { plan, problem, done, isBusy, look, carryOut } = useUndo(scope);
  return (
    <Sheet title={scope.of === "runs" ? "Undo the whole run" : "Undo this call"} isWide onClose={onClose}>
      <div className={styles.body}>
        {problem !== null && (
          <div className={styles.problem} role="alert">
            <p>{problem}</p>
            {plan !== null && (
              <Button size="small" onClick={look}>
                Look again
              </Button>
            )}
          </div>
        )}
        {plan === null && problem === null && <p className={styles.quiet}>Looking at the files…</p>}
        {done !== null && <Result done={done} />}
        {plan !== null && done === null && (
          <Plan plan={plan} projectId={scope.projectId} isBusy={isBusy} showPreview={showPreview} onClose={onClose} onCarryOut={carryOut} />
        )}
      </div>
    </Sheet>
  );
}

function useUndo(scope: UndoScope) {
  const { data, error, refetch } = useUndoPlan(scope);
  const { mutate, reset, data: done = null, error: refusal, isPending } = useCarryOutUndo(scope);
  const problem = error ?? refusal;
  return {
    plan: error === null ? (data ?? null) : null,
    problem: problem && wordsOf(problem),
    done,
    isBusy: isPending,
    // The refusal stays until there is something newer to look at.
    look: () => void refetch().then(reset),
    carryOut: (plan: UndoPlan, skipRefused: boolean) => mutate({ plan, skipRefused }),
  };
}

function wordsOf(error: unknown): string {
  if (error instanceof Refused && error.code === "nothing_to_undo") {
    return "There is nothing to put back: no earlier content of a file is kept here.";
  }
  return describeError(error);
}

interface PlanProps extends Pick<Pictures, "showPreview"> {
  projectId: string;
  plan: UndoPlan;
  isBusy: boolean;
  onClose: () => void;
  onCarryOut: (plan: UndoPlan, skipRefused: boolean) => void;
}

function Plan({ plan, projectId, isBusy, showPreview, onClose, onCarryOut }: PlanProps) {
  const changed = plan.files.filter(({ action }) => action === "restore" || action === "delete");
  const refused = plan.files.filter(({ action }) => action === "refused");
  const [skips, setSkips] = useState(false);
  return (
    <>
      {plan.undone_by !== null && (
        <p className={styles.quiet}>
          Undone already by <Visible text={plan.undone_by} />.
        </p>
      )}
      {changed.length === 0 && <p>{refused.length === 0 ? "All files are as they were before." : "No file can be put back."}</p>}
      {refused.length > 0 && <LeftAlone files={refused} />}
      {changed.length > 0 && showPreview(picture(plan, projectId, changed))}
      {plan.is_partial && <p className={styles.warning}>A command ran. What it changed beyond these files is not put back.</p>}
      {changed.length > 0 && refused.length > 0 && (
        <label className={styles.check}>
          <input type="checkbox" checked={skips} onChange={({ target }) => setSkips(target.checked)} />
          Put back the others all the same
        </label>
      )}
      <div className={styles.buttons}>
        <Button onClick={onClose} autoFocus>
          {changed.length === 0 ? "Close" : "Keep as it is"}
        </Button>
        {changed.length > 0 && (
          <Button look="danger" disabled={isBusy || (refused.length > 0 && !skips)} onClick={() => onCarryOut(plan, skips)}>
            {changed.length === 1 ? "Put back 1 file" : `Put back ${changed.length.toLocaleString("en")} files`}
          </Button>
        )}
      </div>
    </>
  );
}

/** The files as a preview of a change, from what is there to what was. */
function picture({ digest }: UndoPlan, projectId: string, files: UndoFile[]): AskedFor {
  return {
    request_id: digest,
    tool_name: "Undo",
    tool_input: {},
    preview_type: "multi_diff",
    preview_data: { files: files.flatMap(({ diff }) => diff ?? []) },
    diff_lines: [],
    diff_stat: null,
    file_path: null,
    origin: "agent",
    workspace: { project_id: projectId, name: "", root: "" },
    reasons: [],
    edited: null,
    asked_again: null,
  };
}

function LeftAlone({ files }: { files: UndoFile[] }) {
  return (
    <section className={styles.left} aria-label="Files that stay as they are">
      <h3>These stay as they are</h3>
      <ul>
        {files.map(({ file_path: path, reason }) => (
          <li key={path}>
            <code>
              <Visible text={path} />
            </code>
            : <Visible text={reason ?? ""} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Result({ done: { files, left } }: { done: Undone }) {
  return (
    <>
      <p role="status" className={styles.done}>
        {files === 1 ? "1 file is as it was before." : `${files.toLocaleString("en")} files are as they were before.`}
      </p>
      {left.length > 0 && (
        <ul className={styles.quiet}>
          {left.map(({ file_path: path, reason }) => (
            <li key={path}>
              <Visible text={`${path}: ${reason}`} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
