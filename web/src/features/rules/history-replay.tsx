// What the rules would have done to the calls that were made.
import type { Outcome } from "../../api/message";
import type { ChangedCall, Counts, RuleSet, Simulation } from "../../api/rules";
import { ago } from "../../lib/time";
import { useNow } from "../../lib/use-now";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Prose } from "../../ui/prose";
import { Visible } from "../../ui/visible";
import { draftRules } from "./draft";
import { DraftNote } from "./draft-note";
import { rowsShown, useRuleDraft } from "./draft-store";
import { EFFECTS, EffectBadge } from "./effect-badge";
import { useSimulation } from "./queries";
import { RuleText } from "./rule-text";
import styles from "./rules.module.css";

export function HistoryReplay({ projectId, ruleSet }: { projectId: string; ruleSet: RuleSet }) {
  const draft = useRuleDraft((state) => state.draft);
  const { answer, error, isAsking, ask } = useSimulation(projectId);
  return (
    <>
      <DraftNote />
      <div className={styles.formLine}>
        <Button look="primary" disabled={isAsking} onClick={() => ask(draftRules(rowsShown(draft, ruleSet)))}>
          Try on history
        </Button>
        <span className={styles.meta}>Replays the calls of this project. Nothing is run.</span>
      </div>
      <div aria-live="polite" aria-busy={isAsking} className={styles.answer}>
        {isAsking && <p className={styles.meta}>Replaying…</p>}
        {error !== null && <p className={styles.problem}>{error}</p>}
        {answer && <Outcomes simulation={answer} />}
      </div>
    </>
  );
}

function Outcomes({ simulation: { replayed, before, after, changed } }: { simulation: Simulation }) {
  const now = useNow(30_000);
  if (replayed === 0) return <p className={styles.empty}>No calls are recorded yet.</p>;
  // What a person has decided otherwise is what one came here to find.
  const ordered = [...changed.filter((call) => call.contradicts), ...changed.filter((call) => !call.contradicts)];
  const against = changed.filter((call) => call.contradicts).length;
  return (
    <section className={styles.result} aria-label="Outcome">
      <h2 className={styles.verdict}>
        {changed.length.toLocaleString("en")} of {calls(replayed)} would go differently
      </h2>
      {against > 0 && (
        <p className={styles.problem}>
          ▲ {calls(against)} would go against what a person decided.
        </p>
      )}
      <CountsTable before={before} after={after} />
      {changed.length > 0 && (
        <>
          <h3 id="changed">What changes</h3>
          <ul className={styles.changed} aria-labelledby="changed">
            {ordered.map((call) => (
              <ChangedItem key={call.tool_id} call={call} now={now} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function calls(count: number): string {
  return `${count.toLocaleString("en")} ${count === 1 ? "call" : "calls"}`;
}

function CountsTable({ before, after }: { before: Counts; after: Counts }) {
  return (
    <table className={styles.counts}>
      <caption className="visually-hidden">Calls by outcome</caption>
      <thead>
        <tr>
          <th scope="col">Outcome</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
          <th scope="col">Change</th>
        </tr>
      </thead>
      <tbody>
        {EFFECTS.map((effect) => (
          <tr key={effect}>
            <th scope="row">
              <EffectBadge effect={effect} />
            </th>
            <td>{before[effect].toLocaleString("en")}</td>
            <td>{after[effect].toLocaleString("en")}</td>
            <td>{difference(before, after, effect)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function difference(before: Counts, after: Counts, effect: Outcome): string {
  const change = after[effect] - before[effect];
  if (change === 0) return "same";
  return `${change > 0 ? "+" : "−"}${Math.abs(change).toLocaleString("en")}`;
}

const DECIDED = {
  approved: "a person approved it",
  rejected: "a person rejected it",
  timeout: "nobody answered",
  cancelled: "it was cancelled",
} as const;

function ChangedItem({ call, now }: { call: ChangedCall; now: number }) {
  return (
    <li data-contradicts={call.contradicts}>
      <div className={styles.badges}>
        <EffectBadge effect={call.before} />
        <span aria-hidden="true">→</span>
        <span className="visually-hidden">becomes</span>
        <EffectBadge effect={call.after} />
        {call.contradicts && (
          <Badge tone="danger" symbol="▲">
            against a decision
          </Badge>
        )}
      </div>
      <p className={styles.changedSummary}>
        <strong>
          <Visible text={call.tool_name} />
        </strong>{" "}
        <Prose text={call.summary} />
      </p>
      <p className={styles.meta}>
        {[ago(call.created_at, now), call.decided === null ? "nobody was asked" : DECIDED[call.decided]].join(" · ")}
      </p>
      {call.rules.map((rule) => (
        <div key={rule}>
          <RuleText text={rule} />
        </div>
      ))}
    </li>
  );
}
