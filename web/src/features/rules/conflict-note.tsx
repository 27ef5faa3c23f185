import { useEffect, useRef } from "react";

import { Button } from "../../ui/button";
import type { Change } from "./draft";
import { EffectBadge } from "./effect-badge";
import { RuleText } from "./rule-text";
import styles from "./rules.module.css";

/** Somebody else was quicker: what they changed, and the way on that loses neither side's work. */
export function ConflictNote({ changes, onReload }: { changes: readonly Change[]; onReload: () => void }) {
  const note = useRef<HTMLElement>(null);
  // The button that was pressed is at the other end of the page.
  useEffect(() => note.current?.focus(), []);
  return (
    <section
      ref={note}
      className={styles.banner}
      data-tone="warn"
      role="alert"
      aria-label="The rules have changed"
      tabIndex={-1}
    >
      <p>
        <strong>The rules have changed since you began.</strong> Nothing was saved.
      </p>
      {changes.length > 0 ? (
        <ul className={styles.plainList}>
          {changes.map((change) => (
            <li key={"after" in change ? `${change.kind}${change.after.id}` : `removed${change.before.id}`}>
              <ChangeText change={change} />
            </li>
          ))}
        </ul>
      ) : (
        <p>Not those of the project: a file’s, or those of a conversation.</p>
      )}
      <div>
        <Button onClick={onReload}>Reload, keep my draft</Button>
      </div>
    </section>
  );
}

function ChangeText({ change }: { change: Change }) {
  if (change.kind === "changed") {
    return (
      <>
        Changed: <EffectBadge effect={change.before.effect} /> <RuleText text={change.before.rule} /> to{" "}
        <EffectBadge effect={change.after.effect} /> <RuleText text={change.after.rule} />
      </>
    );
  }
  const rule = change.kind === "added" ? change.after : change.before;
  return (
    <>
      {change.kind === "added" ? "Added" : "Removed"}: <EffectBadge effect={rule.effect} /> <RuleText text={rule.rule} />
    </>
  );
}
