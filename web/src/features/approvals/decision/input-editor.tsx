// The call, changed by hand before it runs. What is sent is decided like a new call: by the server.
import { useId } from "react";
import type { Ref } from "react";

import type { ApprovalRequest } from "../../../api/message";
import { BLANKS, visibleSegments } from "../../../lib/visible-text";
import { Button } from "../../../ui/button";
import { Visible } from "../../../ui/visible";
import { editableOf, editedInput } from "./edit-input";
import styles from "./input-editor.module.css";

interface InputEditorProps {
  request: ApprovalRequest;
  text: string;
  onChange: (text: string) => void;
  onClose: () => void;
  fieldRef: Ref<HTMLTextAreaElement>;
}

export function InputEditor({ request, text, onChange, onClose, fieldRef }: InputEditorProps) {
  const id = useId();
  const editable = editableOf(request.tool_name, request.tool_input);
  const isChanged = text !== editable.text;
  const { error } = editedInput(request.tool_name, request.tool_input, text);
  return (
    <section className={styles.editor} aria-label="Edit before approving" data-changed={isChanged}>
      <header className={styles.header}>
        <label htmlFor={id}>{editable.label}</label>
        <span className={styles.state}>{isChanged ? "modified by you" : "not changed yet"}</span>
        <Button look="quiet" size="small" disabled={!isChanged} onClick={() => onChange(editable.text)}>
          Reset
        </Button>
        <Button look="quiet" size="small" onClick={onClose} aria-label="Discard edit">
          Discard
        </Button>
      </header>
      <textarea
        id={id}
        ref={fieldRef}
        value={text}
        rows={Math.min(14, Math.max(2, text.split("\n").length))}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        aria-invalid={error !== null}
        aria-describedby={`${id}-notes`}
        onChange={(event) => onChange(event.target.value)}
      />
      <div id={`${id}-notes`} className={styles.notes}>
        {editable.hasMask && (
          <p className={styles.warning}>
            A secret is hidden here as <code>***</code>. To send an edited call, write the secret out in its place.
          </p>
        )}
        {isChanged && <p className={styles.below}>Below stands what the agent asked for, not your edit.</p>}
        {error !== null && <p className={styles.warning}>{error}</p>}
        <Hidden text={text} />
      </div>
    </section>
  );
}

/** A field draws its text as it is; what it hides is drawn once more below. */
function Hidden({ text }: { text: string }) {
  const options = { blanks: BLANKS, indent: true };
  if (visibleSegments(text, options).every((segment) => segment.kind === "text")) return null;
  return (
    <figure className={styles.hidden}>
      <figcaption>With hidden characters shown</figcaption>
      <pre>
        <Visible text={text} {...options} />
      </pre>
    </figure>
  );
}
