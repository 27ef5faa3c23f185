// Changing the project's own rules. The page never judges a rule: the server's word is shown at the rule it names.
import { useEffect, useId, useRef, useState } from "react";

import type { Outcome } from "../../api/message";
import type { RuleSet } from "../../api/rules";
import { BLANKS, visibleSegments } from "../../lib/visible-text";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { Prose } from "../../ui/prose";
import { Visible } from "../../ui/visible";
import { ConflictNote } from "./conflict-note";
import { countChanges } from "./draft";
import type { Row } from "./draft";
import { rowsShown, useRuleDraft } from "./draft-store";
import type { RuleProblem } from "./draft-store";
import { EFFECTS, effectWord } from "./effect-badge";
import { useIsChangingRules, useSaveDraft } from "./queries";
import styles from "./rules.module.css";

export function RuleEditor({ projectId, ruleSet }: { projectId: string; ruleSet: RuleSet }) {
  const { draft, problem, conflict, ...store } = useRuleDraft();
  const save = useSaveDraft(projectId);
  const isBusy = useIsChangingRules(projectId);
  const rows = rowsShown(draft, ruleSet);
  const changes = draft ? countChanges(draft) : 0;
  const [newest, setNewest] = useState<string | null>(null);
  const onAdd = () => setNewest(store.add(ruleSet, [{ effect: "allow", rule: "" }])[0] ?? null);
  const onSubmit = (event: React.FormEvent) => {
    event.preventDefault();
    if (draft) save.mutate(draft);
  };
  return (
    <form className={styles.editor} onSubmit={onSubmit} noValidate>
      {conflict && <ConflictNote changes={conflict} onReload={() => store.takeOver(ruleSet)} />}
      {problem && problem.rowKey === null && <ProblemNote problem={problem} />}
      {rows.length === 0 && <p className={styles.empty}>The project has no rules of its own.</p>}
      <ol className={styles.rows}>
        {rows.map((row, index) => (
          <EditorRow
            key={row.key}
            row={row}
            place={index + 1}
            problem={problem?.rowKey === row.key ? problem : null}
            hasFocus={newest === row.key}
            onChange={(change) =>
              store.change(ruleSet, (all) => all.map((other) => (other.key === row.key ? { ...other, ...change } : other)))
            }
            onRemove={() => store.change(ruleSet, (all) => all.filter(({ key }) => key !== row.key))}
          />
        ))}
      </ol>
      <div className={styles.editorBar}>
        <Button onClick={onAdd}>
          <Icon name="plus" /> Add rule
        </Button>
        <span className={styles.space}>{changes > 0 && `${changes} unsaved ${changes === 1 ? "change" : "changes"}`}</span>
        <Button look="quiet" disabled={changes === 0 || isBusy} onClick={store.discard}>
          Discard
        </Button>
        <Button look="primary" type="submit" disabled={changes === 0 || isBusy || conflict !== null}>
          Save
        </Button>
      </div>
    </form>
  );
}

interface EditorRowProps {
  row: Row;
  place: number;
  problem: RuleProblem | null;
  hasFocus: boolean;
  onChange: (change: Partial<Row>) => void;
  onRemove: () => void;
}

function EditorRow({ row, place, problem, hasFocus, onChange, onRemove }: EditorRowProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  // The refusal is about this one: that is where the hands should be.
  useEffect(() => {
    if (problem) field.current?.focus();
  }, [problem]);
  return (
    <li>
      <div className={styles.editorRow} role="group" aria-label={`Rule ${place}`} data-effect={row.effect}>
        <div className={styles.fieldEffect}>
          <label htmlFor={`${id}-effect`}>Effect</label>
          <select id={`${id}-effect`} value={row.effect} onChange={(event) => onChange({ effect: event.target.value as Outcome })}>
            {EFFECTS.map((effect) => (
              <option key={effect} value={effect}>
                {effectWord(effect)}
              </option>
            ))}
          </select>
        </div>
        <div className={styles.fieldRule}>
          <label htmlFor={`${id}-rule`}>Rule</label>
          <input
            id={`${id}-rule`}
            ref={field}
            className={styles.mono}
            value={row.rule}
            placeholder="Bash(cargo test:*)"
            autoFocus={hasFocus}
            spellCheck={false}
            autoCapitalize="off"
            autoComplete="off"
            aria-invalid={problem !== null}
            aria-describedby={`${id}-notes`}
            onChange={(event) => onChange({ rule: event.target.value })}
          />
        </div>
        <div className={styles.fieldWhy}>
          <label htmlFor={`${id}-why`}>Why</label>
          <input id={`${id}-why`} value={row.why} placeholder="For whoever reads it later" onChange={(event) => onChange({ why: event.target.value })} />
        </div>
        <div className={styles.fieldDay}>
          <label htmlFor={`${id}-day`}>Last day</label>
          <input id={`${id}-day`} type="date" value={row.lastDay} onChange={(event) => onChange({ lastDay: event.target.value })} />
        </div>
        <Button look="quiet" size="icon" className={styles.remove} aria-label={`Remove rule ${place}`} title="Remove" onClick={onRemove}>
          <Icon name="close" />
        </Button>
        <div id={`${id}-notes`} className={styles.rowNotes}>
          <Hidden text={row.rule} />
          {problem && <ProblemNote problem={problem} />}
        </div>
      </div>
    </li>
  );
}

/** A field draws its text as it is; what it hides is drawn once more below. */
function Hidden({ text }: { text: string }) {
  if (visibleSegments(text, { blanks: BLANKS }).every((segment) => segment.kind === "text")) return null;
  return (
    <p className={styles.meta}>
      With hidden characters shown: <code><Visible text={text} blanks={BLANKS} /></code>
    </p>
  );
}

export function ProblemNote({ problem: { message, hint } }: { problem: Pick<RuleProblem, "message" | "hint"> }) {
  return (
    <p className={styles.problem} role="alert">
      <Prose text={message} />
      {hint && (
        <>
          {" "}
          <span className={styles.hint}>
            <Prose text={hint} />
          </span>
        </>
      )}
    </p>
  );
}
