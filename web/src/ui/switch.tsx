import { useId } from "react";

import styles from "./switch.module.css";

interface SwitchProps {
  label: string;
  isOn: boolean;
  disabled?: boolean;
  /** Whether it keeps people safe: then off looks like danger. */
  guards?: boolean;
  /** The id of what says what it means as it stands. */
  describedBy?: string;
  onSwitch: () => void;
}

/** On or off, at once; the word stands beside it, so that it never rests on colour and place alone. */
export function Switch({ label, isOn, disabled = false, guards = false, describedBy, onSwitch }: SwitchProps) {
  const id = useId();
  return (
    <span className={styles.row}>
      <span id={id} className={styles.label}>
        {label}
      </span>
      <button
        type="button"
        role="switch"
        className={styles.switch}
        data-guards={guards}
        aria-checked={isOn}
        aria-labelledby={id}
        aria-describedby={describedBy}
        disabled={disabled}
        onClick={onSwitch}
      >
        <span className={styles.track} aria-hidden="true">
          <span className={styles.knob} />
        </span>
        <span className={styles.word} aria-hidden="true">
          {isOn ? "On" : "Off"}
        </span>
      </button>
    </span>
  );
}
