// A tool call in one line, which opens to its input and result.
import { memo, useState } from "react";

import { exchangesOf, planOf, questionsOf } from "../../api/asking";
import { notedList, readList } from "../../api/todos";
import { classNames } from "../../lib/class-names";
import { BLANKS } from "../../lib/visible-text";
import { Badge } from "../../ui/badge";
import type { Tone } from "../../ui/badge";
import { Button } from "../../ui/button";
import { CappedText } from "../../ui/capped-text";
import { ExchangeList } from "../../ui/exchange-list";
import { Icon } from "../../ui/icon";
import { MarkedText } from "../../ui/marked-text";
import { Tag } from "../../ui/tag";
import { Visible } from "../../ui/visible";
import { ClientProgress } from "./client-progress";
import { whereabouts } from "./elsewhere";
import type { LiveOutput, Step } from "./elsewhere";
import { TodoItems } from "./todo-items";
import styles from "./tool-call.module.css";
import { ToolOutput } from "./tool-output";
import { isCommand, summarizeTool } from "./tool-summary";
import type { Item, Verdict } from "./transcript-state";

type ToolItem = Extract<Item, { kind: "tool" }>;

interface ToolCallProps {
  item: ToolItem;
  verdict: Verdict | undefined;
  /** How far it has come, and what it has written, if a client runs it. */
  step: Step | undefined;
  output: LiveOutput | undefined;
  root: string | undefined;
  isRunning: boolean;
  onShowApproval: (requestId: string) => void;
}

export const ToolCall = memo(function ToolCall(props: ToolCallProps) {
  const { item, verdict, output, root, onShowApproval } = props;
  const [isOpen, setOpen] = useState(false);
  const { name, detail } = summarizeTool(item.name, item.input, root);
  const asked = { tool_name: item.name, tool_input: verdict?.editedInput ?? item.input };
  const state = stateOf(props);
  return (
    <div className={classNames(styles.call, state.isBad && styles.bad)}>
      <div className={styles.line}>
        <button type="button" className={styles.summary} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span className={classNames(styles.chevron, isOpen && styles.open)}>
            <Icon name="chevron" />
          </span>
          <span className={styles.name}>
            <Visible text={name} />
          </span>{" "}
          <span className={styles.detail}>
            <Visible text={detail} blanks={BLANKS} />
          </span>
        </button>
        {item.agent !== null && <Tag icon="branch" spoken="subagent" text={item.agent} />}
        <State state={state} />
        {verdict?.status === "PENDING" && (
          <Button size="small" onClick={() => onShowApproval(verdict.requestId)}>
            Review
          </Button>
        )}
      </div>
      <Asked call={asked} isWaiting={verdict?.status === "PENDING"} />
      <Noted call={asked} result={item.result} />
      {isOpen ? <Details item={item} /> : <ToolOutput text={outputOf(item, verdict)} />}
      <ClientProgress whereabouts={placeOf(props)} output={output} byPerson={verdict !== undefined} />
    </div>
  );
});

/** A question with its answer, or a plan: part of the conversation, not the input of a tool. */
function Asked({ call, isWaiting }: { call: { tool_name: string; tool_input: unknown }; isWaiting: boolean }) {
  const exchanges = exchangesOf(call);
  const plan = planOf(call);
  // A plan that waits is read where it is decided.
  if (!exchanges && (plan === null || isWaiting)) return null;
  return (
    <div className={styles.asked}>
      {exchanges && <ExchangeList exchanges={exchanges} unanswered={isWaiting ? "waits for your answer" : "not answered"} />}
      {plan !== null && <MarkedText text={plan} label="Plan" />}
    </div>
  );
}

/** The list that a call has noted or read: what it is about, not its JSON. */
function Noted({ call, result }: { call: { tool_name: string; tool_input: unknown }; result: ToolItem["result"] }) {
  const todos = notedList(call) ?? (result && readList(call, result.content));
  if (!todos || todos.length === 0 || result?.isError) return null;
  return (
    <div className={styles.noted}>
      <TodoItems todos={todos} label="Tasks" />
    </div>
  );
}

/** Why a call was rejected or failed and what a command said is worth a look without a click; a file's content is not. */
function outputOf({ input, result }: ToolItem, verdict: Verdict | undefined): string {
  if (verdict && verdict.status !== "APPROVED") return verdict.feedback ?? "";
  return result && (result.isError || isCommand(input)) ? result.content : "";
}

/** With whom it is on its way; nobody once the result is there, or when nothing runs any more. */
function placeOf({ item, verdict, step, isRunning }: ToolCallProps) {
  if (item.result !== null || !isRunning) return null;
  return whereabouts(step, verdict);
}

interface CallState {
  word: string | null;
  symbol: string;
  tone: Tone;
  isBad: boolean;
}

function stateOf(props: ToolCallProps): CallState {
  const { verdict } = props;
  const by = verdict?.decidedBy ? ` by ${verdict.decidedBy}` : "";
  switch (verdict?.status) {
    case "PENDING":
      return { word: "Waiting", symbol: "◷", tone: "warn", isBad: false };
    case "REJECTED":
      return { word: `Rejected${by}`, symbol: "✕", tone: "danger", isBad: true };
    case "TIMEOUT":
      return { word: "Expired", symbol: "◷", tone: "danger", isBad: true };
    case "CANCELLED":
      return { word: "Cancelled", symbol: "–", tone: "neutral", isBad: false };
    default:
      return resultState(props, verdict ? `${verbOf(props.item)}${by}` : null);
  }
}

function verbOf({ name, input }: ToolItem): string {
  return questionsOf({ tool_name: name, tool_input: input }) ? "Answered" : "Approved";
}

function resultState(props: ToolCallProps, approved: string | null): CallState {
  const { item, step, isRunning } = props;
  const wasLeft = step !== undefined && !step.wasBegun;
  if (item.result?.isError) return { word: wasLeft ? "Not run" : "Failed", symbol: "✕", tone: "danger", isBad: true };
  if (item.result) return { word: approved, symbol: "✓", tone: "good", isBad: false };
  const place = placeOf(props);
  if (place === "waiting") return { word: "Waiting for a client", symbol: "◷", tone: "warn", isBad: false };
  if (place === "running") return { word: "Running on the client…", symbol: "▸", tone: "calm", isBad: false };
  if (isRunning) return { word: "Running", symbol: "…", tone: "neutral", isBad: false };
  return { word: "No result", symbol: "–", tone: "neutral", isBad: false };
}

function State({ state }: { state: CallState }) {
  if (state.word === null) {
    return (
      <span className={styles.done} title="Done">
        <span aria-hidden="true">✓</span>
        <span className="visually-hidden">Done</span>
      </span>
    );
  }
  return (
    <Badge tone={state.tone} symbol={state.symbol}>
      {state.word}
    </Badge>
  );
}

function Details({ item }: { item: ToolItem }) {
  return (
    <div className={styles.details}>
      <h3>Input</h3>
      <CappedText label={`Input of ${item.name}`} text={JSON.stringify(item.input, null, 2)} isSuspect />
      {item.result && (
        <>
          <h3>{item.result.isError ? "Error" : "Result"}</h3>
          <CappedText label={`Result of ${item.name}`} text={item.result.content} />
        </>
      )}
    </div>
  );
}
