import { Sheet } from "../../ui/sheet";
import styles from "./key-help.module.css";

const KEYS: [string, string][] = [
  ["F6", "Move into the card that waits, and back to where you were"],
  ["a", "Approve. High risk: go to the button, Enter confirms"],
  ["r", "Write feedback for a rejection"],
  ["e", "Edit the call before approving it, where that is offered"],
  ["Ctrl Enter", "Reject, from the feedback field. Send the answer, from a question"],
  ["j", "Next request"],
  ["k", "Previous request"],
  ["Esc", "Put the request aside; it keeps waiting"],
  ["?", "These keys"],
];

export function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Sheet title="Keys" onClose={onClose}>
      <dl className={styles.keys}>
        {KEYS.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              {key.split(" ").map((part) => (
                <kbd key={part}>{part}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p className={styles.note}>Letters decide only while the focus is in the card, after all of it was in view, and rest for a moment after it appears. A press that comes too early is told.</p>
    </Sheet>
  );
}
