import { create } from "zustand";

import { readStored, writeStored } from "../../../lib/stored";
import { useMedia } from "../../../lib/use-media";
import type { View } from "./diff-rows";
import styles from "./diff-preview.module.css";

export interface DiffView {
  view: View;
  /** None where the screen has no room for two columns. */
  change: ((view: View) => void) | null;
}

/** How the person likes diffs. Kept apart from any diff: the panel has the room for it before one comes. */
export const useChosenView = create<{ view: View; choose: (view: View) => void }>()((set) => ({
  view: readStored("localStorage", "diff") === "split" ? "split" : "unified",
  choose: (view) => {
    writeStored("localStorage", "diff", view);
    set({ view });
  },
}));

/** The same, as far as the screen allows. */
export function useDiffView(): DiffView {
  const isNarrow = useMedia("(max-width: 760px)");
  const { view, choose: change } = useChosenView();
  return isNarrow ? { view: "unified", change: null } : { view, change };
}

export function ViewSwitch({ view, change }: DiffView) {
  if (change === null) return null;
  return (
    <div className={styles.switch} role="group" aria-label="Diff layout">
      <button type="button" aria-pressed={view === "unified"} onClick={() => change("unified")}>
        Unified
      </button>
      <button type="button" aria-pressed={view === "split"} onClick={() => change("split")}>
        Side by side
      </button>
    </div>
  );
}
