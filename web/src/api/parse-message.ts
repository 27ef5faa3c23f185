// Reads one frame of the socket and checks it before the rest of the page may call it a `ServerMessage`.
// Hand-written: the table repeats no type, and the compiler holds it against the generated schema; a library would need schemas of its own.
import type { ServerMessage } from "./message";

export type ParsedFrame =
  | { kind: "message"; message: ServerMessage }
  /** A newer server may send what this page does not know yet. */
  | { kind: "unknown"; type: string }
  | { kind: "malformed"; problem: string };

export function parseMessage(data: unknown): ParsedFrame {
  const value = parseJson(data);
  if (!isRecord(value) || typeof value["type"] !== "string") return { kind: "malformed", problem: "it is not an object with a `type`" };
  const { type, subtype } = value;
  const fields = Object.hasOwn(MESSAGES, type) ? fieldsFor(type as ServerMessage["type"], subtype) : null;
  if (fields === null) return { kind: "unknown", type: typeof subtype === "string" ? `${type}/${subtype}` : type };
  const wrong = findWrongField(value, LOG_POSITION) ?? findWrongField(value, fields);
  if (wrong !== null) return { kind: "malformed", problem: `\`${wrong}\` of \`${type}\` is missing or of another kind` };
  return { kind: "message", message: value as ServerMessage };
}

function parseJson(data: unknown): unknown {
  if (typeof data !== "string") return null;
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return null;
  }
}

/** What a field must be. A word of a fixed list is only a text here: the page shows words it does not know. */
type FieldKind<T> = unknown extends T
  ? "anything"
  : null extends T
    ? `${LeafKind<NonNullable<T>>} or null`
    : T extends readonly (infer Item)[]
      ? readonly [FieldKind<Item>]
      : LeafKind<T> extends "object"
        ? "object" | "anything" | FieldsOf<T>
        : LeafKind<T>;

type LeafKind<T> = [T] extends [string] ? "text" : [T] extends [number] ? "number" : [T] extends [boolean] ? "flag" : "object";

/** Every field of a type with its kind; a name that ends in `?` may be left out. */
type FieldsOf<T> = {
  readonly [Name in keyof T & string as object extends Pick<T, Name> ? `${Name}?` : Name]-?: FieldKind<Exclude<T[Name], undefined>>;
};

type PositionName = "seq" | "session_id" | "run_id";
type BodyFields<Message> = FieldsOf<Omit<Message, "type" | "subtype" | PositionName>>;
type MessageTable = {
  readonly [Type in ServerMessage["type"]]: TableEntry<Extract<ServerMessage, { type: Type }>>;
};
type TableEntry<Message> = [Message] extends [{ subtype: infer Subtype extends string }]
  ? { readonly bySubtype: { readonly [Name in Subtype]: BodyFields<Extract<Message, { subtype: Name }>> } }
  : { readonly fields: BodyFields<Message> };

const LOG_POSITION: FieldsOf<Pick<ServerMessage, PositionName>> = { "seq?": "number", "session_id?": "text", "run_id?": "text" };

const OFFERED = {
  modes: [{ id: "text", label: "text", available: "flag", "reason?": "text" }],
  approvals: "text",
  default_mode: "text",
} as const;

const RUN_REPORT = { "usage?": { input_tokens: "number", output_tokens: "number" }, "cost?": "text", "hint?": "text" } as const;

const APPROVAL_REQUEST = {
  request_id: "text",
  tool_name: "text",
  tool_input: "anything",
  tool_use_id: "text",
  preview_type: "text",
  preview_data: "object",
  file_path: "text or null",
  original_content: "text or null",
  new_content: "text or null",
  diff_lines: ["text"],
  diff_stat: "object or null",
  status: "text",
  user_feedback: "text or null",
  summary: "text",
  risk_level: "text",
  reasons: ["text"],
  created_at: "text",
  expires_at: "text or null",
  digest: "text",
  allowed_decisions: ["text"],
  proposals: [{ rules: ["text"], label: "text", matched_before: "number" }],
  edited: "object or null",
  asked_again: "text or null",
  origin: "text",
  "agent?": "text",
  workspace: { project_id: "text", name: "text", root: "text" },
  conversation: { session_id: "text", title: "text or null" },
  agent_name: "text",
} as const;

const MESSAGES: MessageTable = {
  system: {
    bySubtype: {
      init: { content: { session_id: "text", model: "text", tools: ["text"] } },
      resumed: {
        content: {
          ...OFFERED,
          head: "number",
          session_id: "text or null",
          permission_mode: "text or null",
          active: "flag",
          demo: "flag",
          model: "text",
          root: "text",
          now: "text",
        },
      },
      caught_up: { content: { head: "number" } },
      run_resumed: { content: { session_id: "text", message: "text" } },
      notice: { content: { session_id: "text", message: "text" } },
      settings: { content: OFFERED },
      retry: { content: { attempt: "number", wait_ms: "number", reason: "text" } },
    },
  },
  assistant: {
    bySubtype: {
      text: { content: { text: "text" } },
      text_delta: { content: { text: "text" } },
      tool_use: { content: { id: "text", name: "text", input: "anything", "agent?": "text" } },
    },
  },
  user: {
    bySubtype: {
      prompt: { content: { text: "text" } },
      tool_result: { content: { tool_use_id: "text", content: "text", is_error: "flag" } },
    },
  },
  result: {
    bySubtype: {
      success: { content: { message: "text" }, ...RUN_REPORT },
      error: { content: { message: "text", code: "text" }, ...RUN_REPORT },
    },
  },
  tool_approval_request: { fields: APPROVAL_REQUEST },
  tool_rehearsed: { fields: APPROVAL_REQUEST },
  tool_approval_resolved: {
    fields: { request_id: "text", status: "text", decided_by: "text or null", user_feedback: "text or null", "edited_input?": "anything" },
  },
  approve_all_answered: {
    fields: { content: { answers: [{ request_id: "text", outcome: "text", "code?": "text", "message?": "text" }] } },
  },
  tool_state: { fields: { content: { tool_id: "text", tool_use_id: "text", tool_name: "text", status: "text", origin: "text" } } },
  tool_undone: { fields: { content: { tool_ids: ["text"], undone_by: "text", files: "number" } } },
  tool_output: { fields: { content: { tool_id: "text", text: "text" } } },
  error: { fields: { content: { message: "text", code: "text" }, "request_id?": "text" } },
};

/** The same tables without their types, for the walk through them. */
type AnyKind = string | readonly AnyKind[] | AnyFields;
type AnyFields = { readonly [name: string]: AnyKind };

/** The fields of a message; none where its subtype is not known. */
function fieldsFor(type: ServerMessage["type"], subtype: unknown): AnyFields | null {
  const entry: { fields: AnyFields } | { bySubtype: Readonly<Record<string, AnyFields>> } = MESSAGES[type];
  if ("fields" in entry) return entry.fields;
  return typeof subtype === "string" && Object.hasOwn(entry.bySubtype, subtype) ? (entry.bySubtype[subtype] ?? null) : null;
}

/** The path of the first field that is not as it should be. */
function findWrongField(value: Readonly<Record<string, unknown>>, fields: AnyFields): string | null {
  for (const [key, kind] of Object.entries(fields)) {
    const isOptional = key.endsWith("?");
    const name = isOptional ? key.slice(0, -1) : key;
    const field = value[name];
    if (isOptional && field === undefined) continue;
    const wrong = findWrongPart(field, kind, name);
    if (wrong !== null) return wrong;
  }
  return null;
}

function findWrongPart(value: unknown, kind: AnyKind, path: string): string | null {
  if (typeof kind === "string") return isOfKind(value, kind) ? null : path;
  if (isList(kind)) {
    if (!Array.isArray(value)) return path;
    const [itemKind = "anything"] = kind;
    return value.map((item, index) => findWrongPart(item, itemKind, `${path}[${index}]`)).find((wrong) => wrong !== null) ?? null;
  }
  if (!isRecord(value)) return path;
  const wrong = findWrongField(value, kind);
  return wrong === null ? null : `${path}.${wrong}`;
}

function isOfKind(value: unknown, kind: string): boolean {
  if (kind.endsWith(" or null")) return value === null || isOfKind(value, kind.slice(0, -" or null".length));
  switch (kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "flag":
      return typeof value === "boolean";
    case "object":
      return isRecord(value);
    default:
      return true;
  }
}

function isList(kind: AnyKind): kind is readonly AnyKind[] {
  return Array.isArray(kind);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
