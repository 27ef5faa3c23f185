import { MODE_LABELS } from "../features/agent/run-settings";
import { useAgent } from "../features/agent/store";
import { modeOf } from "../features/agent/transcript-state";
import styles from "./shell.module.css";

/** Wherever one is: while nobody is asked, everybody is told. What it says of this conversation is what its next run does. */
export function UnaskedBanner() {
  const isUnasked = useAgent((state) => state.server?.approvals === "off");
  const mode = useAgent(modeOf);
  if (!isUnasked) return null;
  return (
    <p className={styles.banner} role="alert">
      {mode === "bypassPermissions"
        ? "Approvals are off: calls run without asking. What is denied stays denied, and every call is recorded."
        : `Approvals are off in this workspace. This conversation still asks: its mode is “${MODE_LABELS[mode]}”.`}
    </p>
  );
}
