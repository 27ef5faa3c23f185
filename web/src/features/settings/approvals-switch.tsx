// Whether people are asked in a workspace. Off is a step of its own: it says what that means, and asks.
import { useId, useState } from "react";

import type { Project, SettingsChange } from "../../api/projects";
import { Button } from "../../ui/button";
import { Prose } from "../../ui/prose";
import { Sheet } from "../../ui/sheet";
import { Switch } from "../../ui/switch";
import styles from "./settings.module.css";

interface ApprovalsSwitchProps {
  project: Project;
  isBusy: boolean;
  onChange: (settings: SettingsChange, done: string) => void;
}

const MEANS: Record<Project["approvals"], string> = {
  chosen: "People are asked before calls run that the rules do not allow. A run may still choose “Auto Execute”.",
  kept: "People are always asked. A run that asks nobody (`bypassPermissions`) is refused.",
  off: "Runs that name no mode ask nobody. What is denied stays denied, and every call is recorded.",
};

export function ApprovalsSwitch({ project, isBusy, onChange }: ApprovalsSwitchProps) {
  const [isAsking, setAsking] = useState(false);
  const means = useId();
  const { approvals, own, server } = project;
  const isOn = approvals !== "off";
  const isLocked = server.tool_approval_enabled === true;
  const onSwitch = () => {
    if (isOn) setAsking(true);
    else onChange({ tool_approval_enabled: onValue(project) }, "Approvals are on");
  };
  return (
    <section className={styles.part} aria-label="Approvals">
      <div className={styles.switch} data-off={!isOn}>
        <Switch label="Approvals" guards isOn={isOn} disabled={isBusy || isLocked} describedBy={means} onSwitch={onSwitch} />
        <p id={means}>
          <Prose text={MEANS[approvals]} />
        </p>
      </div>
      <ServerNote project={project} />
      {isOn && !isLocked && (
        <label className={styles.check}>
          <input
            type="checkbox"
            checked={own.tool_approval_enabled === true}
            // Where the server has them off, on can only mean always.
            disabled={isBusy || server.tool_approval_enabled === false}
            onChange={({ target }) =>
              onChange({ tool_approval_enabled: target.checked ? true : null }, target.checked ? "Runs that ask nobody are refused" : "A run may choose to ask nobody")
            }
          />
          <span>
            Refuse runs that ask nobody
            <small>“Auto Execute” is then not offered, whoever starts the run.</small>
          </span>
        </label>
      )}
      {isAsking && (
        <ConfirmOff
          name={project.name}
          onClose={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false);
            onChange({ tool_approval_enabled: false }, "Approvals are off");
          }}
        />
      )}
    </section>
  );
}

/** On is what the server has, unless that is off. */
function onValue({ server }: Project): true | null {
  return server.tool_approval_enabled === false ? true : null;
}

/** What the server was started with, where that says something. */
function ServerNote({ project: { server, own } }: { project: Project }) {
  if (server.tool_approval_enabled === null) return null;
  const overrides = own.tool_approval_enabled === null ? "" : " This workspace has settled it otherwise.";
  const text = server.tool_approval_enabled
    ? "The server was started with `TOOL_APPROVAL_ENABLED=true`: approvals stay on in every workspace, whatever is chosen here."
    : `The server was started with \`TOOL_APPROVAL_ENABLED=false\`: without a choice here, nobody is asked.${overrides}`;
  return (
    <p className={styles.note} data-tone={server.tool_approval_enabled ? "calm" : "warn"}>
      <Prose text={text} />
    </p>
  );
}

function ConfirmOff({ name, onClose, onConfirm }: { name: string; onClose: () => void; onConfirm: () => void }) {
  return (
    <Sheet title={`Switch approvals off in ${name}?`} onClose={onClose}>
      <div className={styles.confirm}>
        <p>
          Runs that name no permission mode then ask nobody: commands, changes of files and the network run at once. A run
          that chooses “Review &amp; Approve” still asks.
        </p>
        <ul>
          <li>What rules and hard denials forbid still does not run.</li>
          <li>Rules that say “ask” still ask.</li>
          <li>Every call is recorded, and so is this change, with your name.</li>
          <li>What waits now goes on waiting.</li>
        </ul>
        <div className={styles.buttons}>
          <Button onClick={onClose} autoFocus>
            Keep asking
          </Button>
          <Button look="danger" onClick={onConfirm}>
            Switch approvals off
          </Button>
        </div>
      </div>
    </Sheet>
  );
}
