// What an approval carries beyond the generated schema. Written by hand until `docs/openapi.json` says it:
// then `WithExtras` and `WithRule` become the identity and this file goes.

export type AllowedDecision = "approve" | "reject" | "edit" | "session" | "project";
export type Outcome = "allow" | "ask" | "deny";

/** One command of a command line, as the server read it. */
export interface CommandPart {
  text: string;
  /** The program that would really start; none when it cannot be told. */
  program: string | null;
  /** What it is run through: `sudo`, `env`, `xargs`. */
  wrappers: string[];
  verdict: Outcome;
  /** What it would do, in words. */
  effects: string[];
  reasons: string[];
}

/** What happens to a file beside the change of its lines. */
export interface FileFacts {
  is_new_file?: boolean;
  is_deleted?: boolean;
  renamed_from?: string | null;
  old_mode?: string | null;
  new_mode?: string | null;
  link_target?: string | null;
  is_binary?: boolean;
  original_size?: number | null;
  new_size?: number | null;
  line_endings?: { from: string; to: string } | null;
  original_lines?: number | null;
  new_lines?: number | null;
  omitted_lines?: number | null;
}

/** One file of a `multi_diff`. */
export interface ChangedFile extends FileFacts {
  file_path: string;
  diff_lines: string[];
}

/** What a preview may say, whichever kind it is: every reader asks for what it can show. */
export interface PreviewFacts extends FileFacts {
  file_path?: string;
  command?: string;
  cwd?: string;
  description?: string | null;
  timeout_ms?: number;
  warnings?: string[];
  parts?: CommandPart[];
  files?: ChangedFile[];
  input?: unknown;
}

/** What "don't ask again" could mean for a call. */
export interface Proposal {
  rules: string[];
  label: string;
  matched_before?: number;
}

interface Extras {
  allowed_decisions: AllowedDecision[];
  preview_type: "diff" | "multi_diff" | "command" | "generic";
  preview_data: PreviewFacts;
  /** The narrowest first. */
  proposals?: Proposal[];
  /** The call as the model made it, when a person has changed it since. */
  edited?: { original_input: unknown } | null;
  /** What moved since it was approved, so that it is asked again. */
  asked_again?: string | null;
}

export type WithExtras<Request> = Omit<Request, keyof Extras> & Extras;

/** `rule`: the rules of one proposal, one per line. */
export type WithRule<Response> = Response & { rule?: string | null };
