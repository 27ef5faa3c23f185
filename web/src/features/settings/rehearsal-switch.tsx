// Whether commands are tried out while they wait. Off unless somebody chose it.
import { useId } from "react";

import type { Project, SettingsChange } from "../../api/projects";
import { Switch } from "../../ui/switch";
import styles from "./settings.module.css";

interface RehearsalSwitchProps {
  project: Project;
  isBusy: boolean;
  onChange: (settings: SettingsChange, done: string) => void;
}

export function RehearsalSwitch({ project, isBusy, onChange }: RehearsalSwitchProps) {
  const means = useId();
  const isOn = project.settings.rehearse;
  return (
    <section className={styles.part} aria-label="Rehearsal">
      <div className={styles.switch}>
        <Switch
          label="Rehearse commands"
          isOn={isOn}
          disabled={isBusy}
          describedBy={means}
          onSwitch={() => onChange({ rehearse: isOn ? null : true }, isOn ? "Commands are not rehearsed" : "Commands are rehearsed while they wait")}
        />
        <p id={means}>
          While a command waits for you, it is tried out in the sandbox: on a copy of the workspace, without the network. You see what it
          did, and a yes keeps exactly that. Commands that reach beyond the workspace are not tried out.
        </p>
      </div>
    </section>
  );
}
