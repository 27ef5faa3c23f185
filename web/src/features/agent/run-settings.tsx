// How a prompt is run: who decides, and whether reads ask.
import { useId, useState } from "react";

import type { ModeView, PermissionMode } from "../../api/message";
import { readStored, writeStored } from "../../lib/stored";
import styles from "./run-settings.module.css";

export interface RunSettings {
  mode: PermissionMode;
  /** Whether calls that only look run without asking. */
  runsReads: boolean;
}

// The words of the contract; the server only adds whether each can be used.
const MODES: { id: PermissionMode; label: string }[] = [
  { id: "bypassPermissions", label: "Auto Execute" },
  { id: "sdk", label: "Review & Approve (SDK)" },
  { id: "toolApproval", label: "Review & Approve (CLI)" },
];

/** Who wants to be asked about reads still wants it after a reload; a mode is chosen anew. */
export function useRunSettings(): [RunSettings, (settings: RunSettings) => void] {
  const [settings, setSettings] = useState<RunSettings>(() => ({
    mode: "sdk",
    runsReads: readStored("localStorage", "reads") !== "ask",
  }));
  const change = (next: RunSettings) => {
    writeStored("localStorage", "reads", next.runsReads ? null : "ask");
    setSettings(next);
  };
  return [settings, change];
}

/** Why a mode cannot be chosen now; `null` when it can, or when the server has not said. */
export function unavailableReason(mode: PermissionMode, modes: ModeView[] | undefined): string | null {
  const view = modes?.find(({ id }) => id === mode);
  return view && !view.available ? (view.reason ?? "This mode is not available here") : null;
}

interface RunSettingsFieldsProps {
  settings: RunSettings;
  modes: ModeView[] | undefined;
  onChange: (settings: RunSettings) => void;
}

export function RunSettingsFields({ settings, modes, onChange }: RunSettingsFieldsProps) {
  const field = useId();
  const { mode, runsReads } = settings;
  const isUnavailable = unavailableReason(mode, modes) !== null;
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
        onChange={(event) => onChange({ ...settings, mode: event.target.value as PermissionMode })}
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
          onChange={(event) => onChange({ ...settings, runsReads: event.target.checked })}
        />
        Run reads without asking
      </label>
    </div>
  );
}
