// What came of a call: a text of ours, or the report of whoever ran it.
import type { Execution } from "../../api/executions";
import { CappedText } from "../../ui/capped-text";
import { Visible } from "../../ui/visible";
import styles from "./call-details.module.css";

export function CallOutcome({ call: { error, error_type: kind, result, status } }: { call: Execution }) {
  const report = reportOf(result);
  // What the model was told of a rejection is only the person's words again.
  const isTold = status === "rejected";
  return (
    <>
      {error !== null && !isTold && (
        <p className={styles.error}>
          <Visible text={error} emptyLines />
          {kind !== undefined && <code> {kind}</code>}
        </p>
      )}
      {typeof result === "string" && (
        <section className={styles.part}>
          <h2>Result</h2>
          <CappedText label="Result" text={result === "" ? "(no output)" : result} />
        </section>
      )}
      {report && <ReportView report={report} />}
    </>
  );
}

/** In the words of whoever ran it; any field may be missing. */
interface Report {
  stdout: string;
  stderr: string;
  exitCode: number | null;
  /** What it says beyond that. */
  more: Record<string, unknown>;
  isFailure: boolean;
}

function reportOf(result: unknown): Report | null {
  if (typeof result !== "object" || result === null) return null;
  const { stdout, stderr, exit_code: code, success, ...more } = result as Record<string, unknown>;
  const exitCode = typeof code === "number" ? code : null;
  const isFailure = typeof success === "boolean" ? !success : (exitCode ?? 0) !== 0;
  return { stdout: text(stdout), stderr: text(stderr), exitCode, more, isFailure };
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function ReportView({ report: { stdout, stderr, exitCode, more, isFailure } }: { report: Report }) {
  const isSilent = stdout === "" && stderr === "" && Object.keys(more).length === 0;
  return (
    <section className={styles.part} aria-label="Result">
      <h2>
        Result
        {exitCode !== null && <span className={styles.exit}> exit code {exitCode}</span>}
        {isFailure && exitCode === null && <span className={styles.exit}> not successful</span>}
      </h2>
      {stdout !== "" && <CappedText label="Output" text={stdout} />}
      {stderr !== "" && (
        <>
          <h3>Error output</h3>
          <CappedText label="Error output" text={stderr} />
        </>
      )}
      {Object.keys(more).length > 0 && <CappedText label="Further fields" text={JSON.stringify(more, null, 2)} />}
      {isSilent && <p className={styles.note}>No output.</p>}
    </section>
  );
}
