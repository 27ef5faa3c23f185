// The project's own rules while a person changes them: the rows of the editor, what they become when sent, and what
// is left of them when others were quicker. Pure. Whether a rule is a good one only the server says.
import type { Outcome } from "../../api/message";
import type { DraftRule, RuleInput, RuleView } from "../../api/rules";

export interface Row {
  /** Stays with the row while it is edited. */
  key: string;
  /** None until it is saved. */
  id: string | null;
  effect: Outcome;
  rule: string;
  why: string;
  /** The last day on which it holds, as a date field has it; empty for ever. */
  lastDay: string;
  /** As the server has it, so that an untouched day keeps its hour. */
  expiresAt: string | null;
}

export interface Draft {
  /** Of the rules it began with. */
  version: string;
  base: RuleView[];
  rows: Row[];
}

export type Change =
  | { kind: "added"; after: RuleView }
  | { kind: "removed"; before: RuleView }
  | { kind: "changed"; before: RuleView; after: RuleView };

export function projectRules(rules: readonly RuleView[]): RuleView[] {
  return rules.filter(({ source, id }) => source === "project" && id !== null);
}

export function rowOf(rule: RuleView): Row {
  return {
    key: rule.id ?? rule.rule,
    id: rule.id,
    effect: rule.effect,
    rule: rule.rule,
    why: rule.why ?? "",
    lastDay: rule.expires_at === null ? "" : localDay(new Date(rule.expires_at)),
    expiresAt: rule.expires_at,
  };
}

export function newRow(key: string, effect: Outcome = "allow", rule = ""): Row {
  return { key, id: null, effect, rule, why: "", lastDay: "", expiresAt: null };
}

/** Fields that say nothing are left out. */
export function inputOf(row: Row): RuleInput {
  const why = row.why.trim();
  const expiresAt = expiryOf(row);
  return {
    ...(row.id === null ? {} : { id: row.id }),
    effect: row.effect,
    rule: row.rule.trim(),
    ...(why === "" ? {} : { why }),
    ...(expiresAt === null ? {} : { expires_at: expiresAt }),
  };
}

export function draftRules(rows: readonly Row[]): DraftRule[] {
  return rows.map(({ effect, rule }) => ({ effect, rule: rule.trim() }));
}

/** How many rules of the draft differ from what it began with. */
export function countChanges({ base, rows }: Draft): number {
  const known = new Map(base.map((rule) => [rule.id, rule]));
  const changed = rows.filter((row) => !isAs(row, known.get(row.id))).length;
  const kept = new Set(rows.map(({ id }) => id));
  return changed + base.filter(({ id }) => !kept.has(id)).length;
}

/** What others did to the rules since the draft began. */
export function changesBetween(before: readonly RuleView[], after: readonly RuleView[]): Change[] {
  const old = new Map(before.map((rule) => [rule.id, rule]));
  const now = new Map(after.map((rule) => [rule.id, rule]));
  const changes: Change[] = [];
  for (const rule of before) if (!now.has(rule.id)) changes.push({ kind: "removed", before: rule });
  for (const rule of after) {
    const was = old.get(rule.id);
    if (!was) changes.push({ kind: "added", after: rule });
    else if (!isAs(rowOf(rule), was)) changes.push({ kind: "changed", before: was, after: rule });
  }
  return changes;
}

/** Puts the draft on top of what stands now: what the person touched stays theirs, the rest is as the others left it. */
export function rebased({ base, rows }: Draft, version: string, theirs: RuleView[]): Draft {
  const old = new Map(base.map((rule) => [rule.id, rule]));
  const now = new Map(theirs.map((rule) => [rule.id, rule]));
  const merged = rows.flatMap((row) => {
    if (row.id === null) return [row];
    const isTouched = !isAs(row, old.get(row.id));
    const their = now.get(row.id);
    if (!their) return isTouched ? [{ ...row, id: null }] : [];
    return [isTouched ? row : rowOf(their)];
  });
  const added = theirs.filter(({ id }) => !old.has(id)).map(rowOf);
  return { version, base: theirs, rows: [...merged, ...added] };
}

/** The row that the server's refusal names: by its text, or by its place. */
export function rowNamedBy(rows: readonly Row[], message: string): Row | null {
  const place = /\brules\[(\d+)\]/.exec(message)?.[1];
  if (place !== undefined) return rows[Number(place)] ?? null;
  const named = rows
    .filter(({ rule }) => rule.trim() !== "" && message.includes(rule.trim()))
    .toSorted((a, b) => b.rule.trim().length - a.rule.trim().length);
  return named[0] ?? rows.find(({ rule }) => rule.trim() === "") ?? null;
}

function isAs(row: Row, rule: RuleView | undefined): boolean {
  if (!rule) return false;
  const same = rowOf(rule);
  return (["effect", "rule", "why", "lastDay"] as const).every((field) => row[field].trim() === same[field].trim());
}

/** The end of that day, where the person is. */
function expiryOf({ lastDay, expiresAt }: Row): string | null {
  if (lastDay === "") return null;
  if (expiresAt !== null && localDay(new Date(expiresAt)) === lastDay) return expiresAt;
  const end = new Date(`${lastDay}T23:59:59`);
  return Number.isNaN(end.getTime()) ? null : end.toISOString();
}

function localDay(date: Date): string {
  if (Number.isNaN(date.getTime())) return "";
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function two(part: number): string {
  return String(part).padStart(2, "0");
}
