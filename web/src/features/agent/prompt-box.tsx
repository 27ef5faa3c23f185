import { useId } from "react";
import type { KeyboardEvent } from "react";

import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import styles from "./prompt-box.module.css";
import { RunSettingsFields, unavailableReason, useRunsReads } from "./run-settings";
import type { RunSettings } from "./run-settings";
import { useAgent } from "./store";
import { modeOf } from "./transcript-state";

interface PromptBoxProps {
  isLive: boolean;
  onSend: (prompt: string, settings: RunSettings) => void;
  onStop: () => void;
}

export function PromptBox({ isLive, onSend, onStop }: PromptBoxProps) {
  const { isRunning, awaiting, server, draft: text, write, chosenMode, chooseMode } = useAgent();
  const mode = useAgent(modeOf);
  const [runsReads, setRunsReads] = useRunsReads();
  const field = useId();
  const note = useId();
  // What the settings say the server can do; "Auto Execute" by choice is Claude Code's, and may not be there.
  const unavailable = chosenMode === null && mode === "bypassPermissions" ? null : unavailableReason(mode, server?.modes);
  const isBusy = isRunning || awaiting !== null;
  const canSend = isLive && !isBusy && unavailable === null && text.trim() !== "";

  const send = () => {
    if (canSend) onSend(text.trim(), { chosenMode, runsReads });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter that ends a composition chooses a word; it does not send.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };

  return (
    <form
      className={styles.box}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label className="visually-hidden" htmlFor={field}>
        Prompt
      </label>
      <textarea
        id={field}
        name="prompt"
        className={styles.field}
        rows={1}
        value={text}
        autoFocus
        placeholder="What should the agent do?"
        aria-describedby={note}
        onChange={(event) => write(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <p id={note} className={styles.note} role="status">
        {noteText(unavailable, isLive, isBusy, text)}
      </p>
      <div className={styles.controls}>
        <RunSettingsFields mode={mode} isUnavailable={unavailable !== null} runsReads={runsReads} modes={server?.modes} onMode={chooseMode} onRunsReads={setRunsReads} />
        <div className={styles.buttons}>
          {isRunning && (
            <Button onClick={onStop} disabled={!isLive}>
              <Icon name="stop" /> Stop
            </Button>
          )}
          <Button look="primary" type="submit" disabled={!canSend}>
            Send
          </Button>
        </div>
      </div>
    </form>
  );
}

function noteText(unavailable: string | null, isLive: boolean, isBusy: boolean, text: string): string {
  if (unavailable !== null) return unavailable;
  if (!isLive && text !== "") return "Not connected: your text is kept";
  if (isBusy && text !== "") return "Wait for the run to end, or stop it";
  return "";
}
