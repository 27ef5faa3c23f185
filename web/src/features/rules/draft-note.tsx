import { PageLink } from "../../ui/page-link";
import { countChanges } from "./draft";
import { useRuleDraft } from "./draft-store";
import styles from "./rules.module.css";

/** Says which rules an answer rests on. */
export function DraftNote() {
  const draft = useRuleDraft((state) => state.draft);
  if (!draft) return <p className={styles.meta}>With the rules as they stand.</p>;
  const changes = countChanges(draft);
  return (
    <p className={styles.draftNote}>
      With your unsaved draft: {changes} {changes === 1 ? "change" : "changes"}. <PageLink href="/rules/edit">See the draft</PageLink>
    </p>
  );
}
