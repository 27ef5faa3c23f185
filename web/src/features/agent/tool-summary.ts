// One line for a tool call: its name and what it is about.
import { isPersonal } from "../../api/asking";
import { addedTodo, changedTodo, notedList } from "../../api/todos";
import { progressOf, progressText } from "./todo-lists";

export interface ToolSummary {
  name: string;
  detail: string;
}

// In the order of how much they say; the first that the input has is shown.
const TELLING = ["file_path", "notebook_path", "command", "pattern", "path", "url", "query", "description", "prompt"];

export function summarizeTool(name: string, input: unknown, root: string | undefined): ToolSummary {
  // What is asked stands below the line, in full.
  if (isPersonal({ tool_name: name, tool_input: input })) return { name, detail: "" };
  const noted = notedText({ tool_name: name, tool_input: input });
  if (noted !== null) return { name, detail: firstLine(noted) };
  return { name, detail: firstLine(relativeTo(tellingField(input), root)) };
}

/** What a call does to a list of tasks. */
function notedText(call: { tool_name: string; tool_input: unknown }): string | null {
  const list = notedList(call);
  if (list) return list.length === 0 ? "No tasks" : progressText(progressOf(list));
  const added = addedTodo(call);
  if (added) return added.content;
  const change = changedTodo(call);
  return change && [`#${change.id}`, change.content, change.state?.replace("_", " ")].filter(Boolean).join(" · ");
}

/** A program and its arguments, as one would type them. */
function commandLine({ command, args }: Record<string, unknown>): string | null {
  if (typeof command !== "string" || !Array.isArray(args)) return null;
  return [command, ...args].map((word) => quoted(String(word))).join(" ");
}

function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

export function isCommand(input: unknown): boolean {
  return typeof input === "object" && input !== null && "command" in input;
}

function tellingField(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const fields = input as Record<string, unknown>;
  const line = commandLine(fields);
  if (line !== null) return line;
  for (const name of TELLING) {
    const value = fields[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return "";
}

function relativeTo(text: string, root: string | undefined): string {
  return root && text.startsWith(`${root}/`) ? text.slice(root.length + 1) : text;
}

function firstLine(text: string): string {
  const [line = "", ...more] = text.split("\n");
  return more.length > 0 ? `${line} …` : line;
}
