// "What would this do?": a call that is judged and never made.
import { useEffect, useId, useRef, useState } from "react";
import { useSearchParams } from "wouter";

import type { CheckRequest, RuleSet } from "../../api/rules";
import { Button } from "../../ui/button";
import { CheckAnswer } from "./check-answer";
import type { Pictures } from "./check-answer";
import { draftRules } from "./draft";
import { DraftNote } from "./draft-note";
import { useRuleDraft } from "./draft-store";
import { useCallCheck } from "./queries";
import styles from "./rules.module.css";
import { COMMAND_TOOL, MODES, OTHER_TOOL, TOOLS, templateOf } from "./tools";

interface Call {
  tool: string;
  /** The name of a tool that is not in the list. */
  name: string;
  text: string;
  mode: string;
}

interface TryCallProps extends Pictures {
  projectId: string;
  /** The rules that stand. */
  ruleSet: RuleSet;
}

export function TryCall({ projectId, ...rest }: TryCallProps) {
  const [params, setParams] = useSearchParams();
  const [call, setCall] = useState(() => callOf(params));
  const [notJson, setNotJson] = useState(false);
  const { answer, error, isAsking, ask } = useCallCheck(projectId);
  const id = useId();

  const check = (asked: Call) => {
    const request = requestOf(asked);
    setNotJson(request === null);
    if (request) ask({ ...request, ...rulesOfDraft() });
  };
  const onSubmit = (event: React.FormEvent) => {
    event.preventDefault();
    setParams(paramsOf(call), { replace: true });
    check(call);
  };
  // An address with a call in it shows its answer: asking costs nothing and does nothing.
  const first = useRef(() => params.has("input") && check(call));
  useEffect(() => {
    first.current();
  }, []);

  const isCommand = call.tool === COMMAND_TOOL;
  const change = (next: Partial<Call>) => setCall((before) => ({ ...before, ...next }));
  return (
    <>
      <DraftNote />
      <form className={styles.form} onSubmit={onSubmit} aria-label="A call to try">
        <div className={styles.formLine}>
          <div>
            <label htmlFor={`${id}-tool`}>Tool</label>
            <select
              id={`${id}-tool`}
              value={call.tool}
              onChange={(event) => change({ tool: event.target.value, text: templateOf(event.target.value) })}
            >
              {TOOLS.map((tool) => (
                <option key={tool}>{tool}</option>
              ))}
              <option value={OTHER_TOOL}>Another…</option>
            </select>
          </div>
          {call.tool === OTHER_TOOL && (
            <div>
              <label htmlFor={`${id}-name`}>Name of the tool</label>
              <input
                id={`${id}-name`}
                className={styles.mono}
                value={call.name}
                placeholder="mcp__server__tool"
                onChange={(event) => change({ name: event.target.value })}
              />
            </div>
          )}
          <div>
            <label htmlFor={`${id}-mode`}>Mode</label>
            <select id={`${id}-mode`} value={call.mode} onChange={(event) => change({ mode: event.target.value })}>
              <option value="">as the project stands</option>
              {MODES.map((mode) => (
                <option key={mode}>{mode}</option>
              ))}
            </select>
          </div>
        </div>
        <div>
          <label htmlFor={`${id}-input`}>{isCommand ? "Command line" : "Input as JSON"}</label>
          {isCommand ? (
            <input
              id={`${id}-input`}
              className={styles.mono}
              value={call.text}
              placeholder="cargo test && git push"
              spellCheck={false}
              autoCapitalize="off"
              autoComplete="off"
              onChange={(event) => change({ text: event.target.value })}
            />
          ) : (
            <textarea
              id={`${id}-input`}
              className={styles.mono}
              value={call.text}
              rows={Math.min(16, Math.max(4, call.text.split("\n").length))}
              spellCheck={false}
              aria-invalid={notJson}
              onChange={(event) => change({ text: event.target.value })}
            />
          )}
        </div>
        <div className={styles.formLine}>
          <Button look="primary" type="submit" disabled={isAsking}>
            What would this do?
          </Button>
          <span className={styles.meta}>Nothing is run and nothing is kept.</span>
        </div>
        {notJson && (
          <p className={styles.problem} role="alert">
            This is not JSON yet, so it cannot be asked.
          </p>
        )}
      </form>
      <div aria-live="polite" aria-busy={isAsking} className={styles.answer}>
        {isAsking && <p className={styles.meta}>Asking…</p>}
        {error !== null && <p className={styles.problem}>{error}</p>}
        {answer && <CheckAnswer result={answer} {...rest} />}
      </div>
    </>
  );
}

function rulesOfDraft(): Pick<CheckRequest, "rules"> {
  const { draft } = useRuleDraft.getState();
  return draft ? { rules: draftRules(draft.rows) } : {};
}

/** None when the input is not even JSON. Everything else is for the server to say. */
function requestOf({ tool, name, text, mode }: Call): CheckRequest | null {
  const input = tool === COMMAND_TOOL ? { command: text } : parsed(text);
  if (input === undefined) return null;
  return {
    tool_name: tool === OTHER_TOOL ? name.trim() : tool,
    tool_input: input,
    ...(mode === "" ? {} : { mode }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function callOf(params: URLSearchParams): Call {
  const named = params.get("tool") ?? COMMAND_TOOL;
  const tool = TOOLS.includes(named) ? named : OTHER_TOOL;
  return {
    tool,
    name: tool === OTHER_TOOL ? named : "",
    text: params.get("input") ?? templateOf(tool),
    mode: params.get("mode") ?? "",
  };
}

function paramsOf({ tool, name, text, mode }: Call): Record<string, string> {
  return { tool: tool === OTHER_TOOL ? name.trim() : tool, input: text, ...(mode === "" ? {} : { mode }) };
}
