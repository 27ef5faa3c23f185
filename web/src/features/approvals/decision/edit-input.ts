// A call as a person may change it before it runs: one field of its input, or all of it as JSON. Pure.

/** What stands in place of a secret (`countersign-core`, `mask.rs`). */
const MASK = "***";

interface Field {
  name: string;
  label: string;
}

/** The field that one wants to change, for the tools we know. */
const FIELDS: Record<string, Field> = {
  Bash: { name: "command", label: "Command" },
  Write: { name: "content", label: "Content" },
  write_file: { name: "content", label: "Content" },
  Edit: { name: "new_string", label: "New text" },
};

export interface Editable {
  label: string;
  /** What the editor starts with. */
  text: string;
  isJson: boolean;
  hasMask: boolean;
}

type Edited = { input: unknown; error: null } | { input: null; error: string };

export function editableOf(tool: string, input: unknown): Editable {
  const field = fieldOf(tool, input);
  const hasMask = containsMask(input);
  if (field) return { label: field.label, text: field.text, isJson: false, hasMask };
  return { label: "Input as JSON", text: JSON.stringify(input, null, 2), isJson: true, hasMask };
}

/** The whole input with the change in it. */
export function editedInput(tool: string, input: unknown, text: string): Edited {
  const field = fieldOf(tool, input);
  if (field) return { input: { ...field.fields, [field.name]: text }, error: null };
  try {
    return { input: JSON.parse(text) as unknown, error: null };
  } catch {
    return { input: null, error: "This is not JSON yet, so it cannot be sent." };
  }
}

function fieldOf(tool: string, input: unknown) {
  const field = Object.hasOwn(FIELDS, tool) ? FIELDS[tool] : undefined;
  if (!field || typeof input !== "object" || input === null) return null;
  const fields = input as Record<string, unknown>;
  const text = fields[field.name];
  return typeof text === "string" ? { ...field, fields, text } : null;
}

function containsMask(value: unknown): boolean {
  if (typeof value === "string") return value.includes(MASK);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(containsMask);
}
