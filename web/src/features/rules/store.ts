// The rules as the server has them, and the draft that it does not have yet.
import { create } from "zustand";

import type { Outcome } from "../../api/message";
import { NotSignedIn, Refused } from "../../api/client";
import { fetchRules, replaceRules, revokeRule, trustFile } from "../../api/rules";
import type { RuleSet } from "../../api/rules";
import { randomId } from "../../lib/random-id";
import { readStored, writeStored } from "../../lib/stored";
import { changesBetween, countChanges, inputOf, newRow, projectRules, rebased, rowNamedBy, rowOf } from "./draft";
import type { Change, Draft, Row } from "./draft";

export interface Problem {
  message: string;
  hint: string | null;
  /** The row it is about, where it names one. */
  rowKey: string | null;
}

interface RulesStore {
  /** The workspace whose rules they are. */
  projectId: string;
  set: RuleSet | null;
  loadError: string | null;
  /** A change is on its way; the buttons rest meanwhile. */
  isBusy: boolean;
  problem: Problem | null;
  /** What was done last, for those who listen. */
  done: string;
  draft: Draft | null;
  /** What others changed while we edited; none while nobody did. */
  conflict: Change[] | null;

  load: (projectId: string) => Promise<void>;
  revoke: (id: string) => Promise<void>;
  trust: (digest: string) => Promise<void>;
  save: () => Promise<void>;
  change: (rows: (rows: Row[]) => Row[]) => void;
  add: (rules: { effect: Outcome; rule: string }[]) => string[];
  discard: () => void;
  takeOver: () => void;
}

export const useRules = create<RulesStore>()((set, get) => {
  /** Applies the server's answer. Our own change must not look like somebody else's to the draft. */
  const accept = (next: RuleSet, done: string) => {
    const { draft } = get();
    setDraft(draft && rebased(draft, next.version, projectRules(next.rules)));
    set({ set: next, isBusy: false, loadError: null, problem: null, conflict: null, done });
  };
  const act = async (action: (projectId: string) => Promise<RuleSet>, done: string) => {
    const { projectId } = get();
    set({ isBusy: true, problem: null, done: "" });
    try {
      const next = await action(projectId);
      if (get().projectId === projectId) accept(next, done);
    } catch (error) {
      if (get().projectId === projectId) set({ isBusy: false, problem: problemOf(error, []) });
    }
  };
  const setDraft = (draft: Draft | null) => {
    const kept = draft && countChanges(draft) > 0 ? draft : null;
    writeStored("sessionStorage", draftKey(get().projectId), kept && JSON.stringify(kept));
    set({ draft: kept });
  };

  return {
    projectId: "",
    set: null,
    loadError: null,
    isBusy: false,
    problem: null,
    done: "",
    draft: null,
    conflict: null,

    async load(projectId) {
      set((before) => ({ loadError: null, problem: null, done: "", ...(before.projectId === projectId ? {} : another(projectId)) }));
      try {
        const found = await fetchRules(projectId);
        if (get().projectId === projectId) set({ set: found });
      } catch (error) {
        if (get().projectId === projectId) set({ loadError: messageOf(error) });
      }
    },
    revoke: (id) => act((projectId) => revokeRule(projectId, id), "Revoked"),
    trust: (digest) => act((projectId) => trustFile(projectId, digest), "Trusted: its rules hold from now on"),
    async save() {
      const { projectId, draft } = get();
      if (!draft) return;
      set({ isBusy: true, problem: null, done: "" });
      try {
        const next = await replaceRules(projectId, draft.version, draft.rows.map(inputOf));
        setDraft(null);
        set({ set: next, isBusy: false, conflict: null, done: "Saved" });
      } catch (error) {
        if (isChanged(error)) await refresh(draft);
        else set({ isBusy: false, problem: problemOf(error, draft.rows) });
      }
    },
    change(update) {
      const { set: stored, draft } = get();
      if (!stored) return;
      const base = draft?.base ?? projectRules(stored.rules);
      setDraft({ version: draft?.version ?? stored.version, base, rows: update(draft?.rows ?? base.map(rowOf)) });
      set({ problem: null, done: "" });
    },
    add(rules) {
      const rows = rules.map(({ effect, rule }) => newRow(randomId(), effect, rule));
      get().change((before) => [...before, ...rows]);
      return rows.map(({ key }) => key);
    },
    discard() {
      setDraft(null);
      set({ problem: null, conflict: null, done: "Draft discarded" });
    },
    takeOver() {
      const { set: stored, draft } = get();
      if (!stored || !draft) return;
      setDraft(rebased(draft, stored.version, projectRules(stored.rules)));
      set({ conflict: null, problem: null, done: "Reloaded; your draft is kept" });
    },
  };

  /** The rules are not what the draft began with: fetches what stands, and says what is different. */
  async function refresh({ base }: Draft) {
    try {
      const next = await fetchRules(get().projectId);
      set({ set: next, isBusy: false, conflict: changesBetween(base, projectRules(next.rules)) });
    } catch (error) {
      set({ isBusy: false, problem: problemOf(error, []) });
    }
  }
});

/** The rows on screen: the draft's, else those that stand. */
export function rowsShown({ set, draft }: Pick<RulesStore, "set" | "draft">): Row[] {
  return draft?.rows ?? projectRules(set?.rules ?? []).map(rowOf);
}

export function messageOf(error: unknown): string {
  if (error instanceof NotSignedIn) return "You are not signed in any more.";
  return error instanceof Error ? error.message : String(error);
}

function problemOf(error: unknown, rows: readonly Row[]): Problem {
  const refused = error instanceof Refused ? error : null;
  const message = messageOf(error);
  const isAboutRule = refused?.status === 400;
  const row = isAboutRule ? rowNamedBy(rows, `${message} ${refused?.hint ?? ""}`) : null;
  return { message, hint: refused?.hint ?? null, rowKey: row?.key ?? null };
}

function isChanged(error: unknown): boolean {
  return error instanceof Refused && error.status === 409;
}

/** The state of a workspace that has not been looked at yet. */
function another(projectId: string): Pick<RulesStore, "projectId" | "set" | "isBusy" | "draft" | "conflict"> {
  return { projectId, set: null, isBusy: false, draft: storedDraft(projectId), conflict: null };
}

const draftKey = (projectId: string) => `rules-draft.${projectId}`;

function storedDraft(projectId: string): Draft | null {
  try {
    return JSON.parse(readStored("sessionStorage", draftKey(projectId)) ?? "null") as Draft | null;
  } catch {
    return null;
  }
}
