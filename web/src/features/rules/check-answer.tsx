// The server's answer to "what would this do?".
import { useState } from "react";
import type { ReactNode } from "react";

import type { CommandPart, Proposal, RiskLevel } from "../../api/message";
import type { CheckReason, CheckResult, RuleSet } from "../../api/rules";
import { Button } from "../../ui/button";
import { CappedText } from "../../ui/capped-text";
import { Prose } from "../../ui/prose";
import { useRuleDraft } from "./draft-store";
import { EffectBadge } from "./effect-badge";
import { RuleText } from "./rule-text";
import styles from "./rules.module.css";

/** Pictures that a request for approval has as well. They come from the route: features do not know each other. */
export interface Pictures {
  showParts: (parts: readonly CommandPart[]) => ReactNode;
  showRisk: (level: RiskLevel) => ReactNode;
}

const VERDICTS = {
  allow: "It would run without asking",
  ask: "It would wait for you",
  deny: "It would be refused",
} as const;

interface CheckAnswerProps extends Pictures {
  result: CheckResult;
  /** The rules that stand. */
  ruleSet: RuleSet;
}

export function CheckAnswer({ result, ruleSet, showParts, showRisk }: CheckAnswerProps) {
  return (
    <section className={styles.result} aria-label="Answer" data-effect={result.verdict}>
      <h2 className={styles.verdict}>{VERDICTS[result.verdict] ?? result.verdict}</h2>
      <div className={styles.badges}>
        <EffectBadge effect={result.verdict} />
        {showRisk(result.risk_level)}
      </div>
      <p>
        <Prose text={result.summary} />
      </p>
      {showParts(result.commands)}
      <Reasons reasons={result.reasons} />
      <Proposals proposals={result.proposals} ruleSet={ruleSet} />
      <h3>Explanation</h3>
      <CappedText label="Explanation" text={result.explanation} lines={80} characters={20_000} />
    </section>
  );
}

function Reasons({ reasons }: { reasons: readonly CheckReason[] }) {
  if (reasons.length === 0) return null;
  return (
    <>
      <h3 id="reasons">Why</h3>
      <ul className={styles.reasons} aria-labelledby="reasons">
        {reasons.map((reason, index) => {
          const key = `${index}`;
          return (
            <li key={key}>
              <Prose text={reason.text} />
              {reason.part !== null && <span className={styles.meta}> (command {reason.part + 1})</span>}
              {reason.rule && <Spoke text={reason.text} rule={reason.rule} />}
              {reason.remedy && (
                <p className={styles.meta}>
                  To change it: <Prose text={reason.remedy} />
                </p>
              )}
            </li>
          );
        })}
      </ul>
    </>
  );
}

/** The rule that spoke, where the reason does not name it already, and what its author wrote. */
function Spoke({ text, rule: { rule, source, why } }: { text: string; rule: NonNullable<CheckReason["rule"]> }) {
  const isNamed = text.includes(rule);
  if (isNamed && !why) return null;
  return (
    <span className={styles.spoke}>
      {!isNamed && (
        <>
          <RuleText text={rule} /> <span className={styles.meta}>{source}</span>{" "}
        </>
      )}
      {why && (
        <span className={styles.meta}>
          “<Prose text={why} />”
        </span>
      )}
    </span>
  );
}

function Proposals({ proposals, ruleSet }: { proposals: readonly Proposal[]; ruleSet: RuleSet }) {
  const add = useRuleDraft((state) => state.add);
  const [added, setAdded] = useState<ReadonlySet<string>>(new Set());
  if (proposals.length === 0) return null;
  return (
    <>
      <h3 id="proposals">Rules that would allow it</h3>
      <ul className={styles.proposals} aria-labelledby="proposals">
        {proposals.map(({ rules, label }) => {
          const key = rules.join("\n");
          const onAdd = () => {
            add(ruleSet, rules.map((rule) => ({ effect: "allow", rule })));
            setAdded(new Set(added).add(key));
          };
          return (
            <li key={key}>
              <div>
                <Prose text={label} />
                {rules.map((rule) => (
                  <div key={rule}>
                    <RuleText text={rule} />
                  </div>
                ))}
              </div>
              <Button size="small" disabled={added.has(key)} onClick={onAdd} aria-label={`Add to draft: ${rules.join(", ")}`}>
                {added.has(key) ? "In the draft" : "Add to draft"}
              </Button>
            </li>
          );
        })}
      </ul>
    </>
  );
}
