// The calls one can try: each tool with an input to begin from.

export const COMMAND_TOOL = "Bash";
/** Stands for a tool whose name is written out, such as one of an MCP server. */
export const OTHER_TOOL = "other";

const INPUTS: Record<string, unknown> = {
  Bash: { command: "" },
  Read: { file_path: "README.md" },
  Write: { file_path: "notes.txt", content: "" },
  Edit: { file_path: "notes.txt", old_string: "", new_string: "" },
  MultiEdit: { file_path: "notes.txt", edits: [{ old_string: "", new_string: "" }] },
  NotebookEdit: { notebook_path: "notes.ipynb", new_source: "" },
  Glob: { pattern: "**/*" },
  Grep: { pattern: "" },
  WebFetch: { url: "https://example.com/", prompt: "" },
  WebSearch: { query: "" },
};

export const TOOLS: readonly string[] = Object.keys(INPUTS);

/** The modes of `countersign-core`, `mode.rs`. */
export const MODES: readonly string[] = ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"];

export function templateOf(tool: string): string {
  return tool === COMMAND_TOOL ? "" : JSON.stringify(INPUTS[tool] ?? {}, null, 2);
}
