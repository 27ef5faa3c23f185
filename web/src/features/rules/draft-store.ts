// What a person is about to change about the rules, and what they were told about it. The server has none of this.
import { create } from "zustand";

import type { Outcome } from "../../api/message";
import type { RuleSet } from "../../api/rules";
import { randomId } from "../../lib/random-id";
import { readStored, writeStored } from "../../lib/stored";
import { changesBetween, countChanges, newRow, projectRules, rebased, rowOf } from "./draft";
import type { Change, Draft, Row } from "./draft";

export interface RuleProblem {
  message: string;
  hint: string | null;
  /** The row it is about, where it names one. */
  rowKey: string | null;
}

interface RuleDraftStore {
  /** The workspace whose rules are changed. */
  projectId: string;
  draft: Draft | null;
  /** What others changed while we edited; none while nobody did. */
  conflict: Change[] | null;
  problem: RuleProblem | null;
  /** What was done last, for those who listen. */
  done: string;

  /** Turns to a workspace. Its draft survives a reload. */
  open: (projectId: string) => void;
  /** Changes the rows of the draft; the first change begins one, from the rules that stand. */
  change: (stored: RuleSet, update: (rows: Row[]) => Row[]) => void;
  /** Returns the keys of the new rows. */
  add: (stored: RuleSet, rules: { effect: Outcome; rule: string }[]) => string[];
  discard: () => void;
  /** Puts the draft on top of what others did. */
  takeOver: (stored: RuleSet) => void;

  /** A change is on its way to the server. */
  changeSent: () => void;
  /** The rules were changed from here. That must not look like somebody else's change to the draft. */
  changeMade: (stored: RuleSet, done: string) => void;
  draftSaved: () => void;
  changeRefused: (problem: RuleProblem) => void;
  /** The rules are not what the draft began with. */
  conflictFound: (stored: RuleSet) => void;
}

export const useRuleDraft = create<RuleDraftStore>()((set, get) => {
  const setDraft = (draft: Draft | null) => {
    const kept = draft && countChanges(draft) > 0 ? draft : null;
    writeStored("sessionStorage", draftKey(get().projectId), kept && JSON.stringify(kept));
    set({ draft: kept });
  };
  const rebaseDraft = ({ version, rules }: RuleSet) => {
    const { draft } = get();
    setDraft(draft && rebased(draft, version, projectRules(rules)));
  };

  return {
    projectId: "",
    draft: null,
    conflict: null,
    problem: null,
    done: "",

    open: (projectId) =>
      set((before) => ({
        problem: null,
        done: "",
        ...(before.projectId === projectId ? {} : { projectId, draft: storedDraft(projectId), conflict: null }),
      })),
    change(stored, update) {
      const { draft } = get();
      const base = draft?.base ?? projectRules(stored.rules);
      setDraft({ version: draft?.version ?? stored.version, base, rows: update(draft?.rows ?? base.map(rowOf)) });
      set({ problem: null, done: "" });
    },
    add(stored, rules) {
      const rows = rules.map(({ effect, rule }) => newRow(randomId(), effect, rule));
      get().change(stored, (before) => [...before, ...rows]);
      return rows.map(({ key }) => key);
    },
    discard() {
      setDraft(null);
      set({ problem: null, conflict: null, done: "Draft discarded" });
    },
    takeOver(stored) {
      rebaseDraft(stored);
      set({ conflict: null, problem: null, done: "Reloaded; your draft is kept" });
    },

    changeSent: () => set({ problem: null, done: "" }),
    changeMade(stored, done) {
      rebaseDraft(stored);
      set({ problem: null, conflict: null, done });
    },
    draftSaved() {
      setDraft(null);
      set({ conflict: null, done: "Saved" });
    },
    changeRefused: (problem) => set({ problem }),
    conflictFound: ({ rules }) => set(({ draft }) => ({ conflict: draft && changesBetween(draft.base, projectRules(rules)) })),
  };
});

/** The rows on screen: the draft's, else those that stand. */
export function rowsShown(draft: Draft | null, { rules }: RuleSet): Row[] {
  return draft?.rows ?? projectRules(rules).map(rowOf);
}

const draftKey = (projectId: string) => `rules-draft.${projectId}`;

function storedDraft(projectId: string): Draft | null {
  try {
    return JSON.parse(readStored("sessionStorage", draftKey(projectId)) ?? "null") as Draft | null;
  } catch {
    return null;
  }
}
