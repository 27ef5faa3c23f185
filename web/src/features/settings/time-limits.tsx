// How long people have to decide, by risk. An empty field is what the server has.
import { useId, useState } from "react";
import type { FormEvent } from "react";

import type { Project, SettingsChange } from "../../api/projects";
import { duration } from "../../lib/time";
import { Button } from "../../ui/button";
import styles from "./settings.module.css";

interface TimeLimitsProps {
  project: Project;
  isBusy: boolean;
  onChange: (settings: SettingsChange, done: string) => void;
}

type Risk = "MEDIUM" | "HIGH";

const FIELDS: { risk: Risk; label: string }[] = [
  { risk: "MEDIUM", label: "Medium risk" },
  { risk: "HIGH", label: "High risk" },
];

/** Thirty days, as the server has it (`countersign-server`, `projects/view.rs`). */
const LONGEST = 2_592_000;

type Draft = Partial<Record<Risk, string>>;

export function TimeLimits({ project, isBusy, onChange }: TimeLimitsProps) {
  const [draft, setDraft] = useState<Draft>({});
  const own = project.own.approval_timeout_seconds;
  const textOf = (risk: Risk) => draft[risk] ?? (own[risk] === null ? "" : String(own[risk]));
  const changed = FIELDS.filter(({ risk }) => secondsOf(textOf(risk)) !== own[risk]);
  const isValid = FIELDS.every(({ risk }) => secondsOf(textOf(risk)) !== undefined);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (!isValid || changed.length === 0) return;
    const limits = Object.fromEntries(changed.map(({ risk }) => [risk, secondsOf(textOf(risk)) ?? null]));
    onChange({ approval_timeout_seconds: limits }, "Time limits saved");
    setDraft({});
  };
  return (
    <form className={styles.part} aria-label="Time limits" onSubmit={onSubmit} noValidate>
      <div className={styles.about}>
        <h3>Time limits</h3>
        <p>How long a request waits for a decision. Then it counts as rejected. What waits already keeps its limit.</p>
      </div>
      <div className={styles.fields}>
        {FIELDS.map(({ risk, label }) => (
          <Limit
            key={risk}
            label={label}
            text={textOf(risk)}
            usual={project.server.approval_timeout_seconds[risk]}
            onChange={(text) => setDraft({ ...draft, [risk]: text })}
          />
        ))}
        <Button type="submit" look="primary" disabled={isBusy || !isValid || changed.length === 0}>
          Save
        </Button>
      </div>
    </form>
  );
}

/** Whole seconds, null for what the server has, nothing for what is neither. */
function secondsOf(text: string): number | null | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  const seconds = /^\d{1,9}$/.test(trimmed) ? Number(trimmed) : 0;
  return seconds >= 1 && seconds <= LONGEST ? seconds : undefined;
}

interface LimitProps {
  label: string;
  text: string;
  usual: number;
  onChange: (text: string) => void;
}

function Limit({ label, text, usual, onChange }: LimitProps) {
  const id = useId();
  const seconds = secondsOf(text);
  const isWrong = seconds === undefined;
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <span className={styles.seconds}>
        <input
          id={id}
          inputMode="numeric"
          autoComplete="off"
          value={text}
          placeholder={String(usual)}
          aria-invalid={isWrong}
          aria-describedby={`${id}-means`}
          onChange={(event) => onChange(event.target.value)}
        />
        <span aria-hidden="true">s</span>
      </span>
      <small id={`${id}-means`} data-wrong={isWrong}>
        {isWrong ? "Whole seconds, from 1 to 30 days" : meaning(seconds, usual)}
      </small>
    </div>
  );
}

function meaning(seconds: number | null, usual: number): string {
  return seconds === null ? `${words(usual)}, as the server has it` : words(seconds);
}

/** `5 min` rather than `5 min 0 s`. */
function words(seconds: number): string {
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : duration(seconds * 1000);
}
