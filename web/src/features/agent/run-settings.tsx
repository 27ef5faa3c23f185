// How a prompt is run: who decides, and whether reads ask.
import { useId, useState } from "react";

import type { ModeView, PermissionMode } from "../../api/message";
import { readStored, writeStored } from "../../lib/stored";
import styles from "./run-settings.module.css";

export interface RunSettings {
  /** What the person chose for this conversation; none if they left it to the server. */
  chosenMode: PermissionMode | null;
  /** Whether calls that only look run without asking. */
  runsReads: boolean;
}

// The words of the contract; the server only adds whether each can be used.
const MODES: { id: PermissionMode; label: string }[] = [
  { id: "bypassPermissions", label: "Auto Execute" },
  { id: "sdk", label: "Review & Approve (SDK)" },
  { id: "toolApproval", label: "Review & Approve (CLI)" },
];

export const MODE_LABELS = Object.fromEntries(MODES.map(({ id, label }) => [id, label])) as Record<PermissionMode, string>;

/** Who wants to be asked about reads still wants it after a reload. */
export function useRunsReads(): [boolean, (runsReads: boolean) => void] {
  const [runsReads, setRunsReads] = useState(() => readStored("localStorage", "reads") !== "ask");
  const change = (next: boolean) => {
    writeStored("localStorage", "reads", next ? null : "ask");
    setRunsReads(next);
  };
  return [runsReads, change];
}

/** Why a mode cannot be chosen now; `null` when it can, or when the server has not said. */
export function unavailableReason(mode: PermissionMode, modes: ModeView[] | undefined): string | null {
  const view = modes?.find(({ id }) => id === mode);
  return view && !view.available ? (view.reason ?? "This mode is not available here") : null;
}

interface RunSettingsFieldsProps {
  /** The mode of the next run, whoever chose it. */
  mode: PermissionMode;
  isUnavailable: boolean;
  runsReads: boolean;
  modes: ModeView[] | undefined;
  onMode: (mode: PermissionMode) => void;
  onRunsReads: (runsReads: boolean) => void;
}

export function RunSettingsFields({ mode, isUnavailable, runsReads, modes, onMode, onRunsReads }: RunSettingsFieldsProps) {
  const field = useId();
  return (
    <div className={styles.settings}>
      <label className="visually-hidden" htmlFor={field}>
        Permission mode
      </label>
      <select
        id={field}
        className={styles.mode}
        data-warn={mode === "bypassPermissions" || isUnavailable}
        value={mode}
        onChange={(event) => onMode(event.target.value as PermissionMode)}
      >
        {MODES.map(({ id, label }) => (
          // The name of an option is binding, so that it is unavailable stands in its title and, once chosen, beside it.
          <option key={id} value={id} title={unavailableReason(id, modes) ?? undefined}>
            {label}
          </option>
        ))}
      </select>
      <label className={styles.reads}>
        <input
          type="checkbox"
          checked={runsReads}
          onChange={(event) => onRunsReads(event.target.checked)}
        />
        Run reads without asking
      </label>
    </div>
  );
}
