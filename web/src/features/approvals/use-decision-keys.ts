// The keys of the approval panel. Nothing here decides by itself: each key is one of the actions.
import { useEffect, useRef } from "react";
import type { RefObject } from "react";

import { bareKey, isEditing } from "../../lib/keyboard";

export interface KeyActions {
  /** Keys act only here; elsewhere the first press brings the panel into focus. */
  panel: RefObject<HTMLElement | null>;
  acceptsKey: () => boolean;
  focusPanel: () => void;
  approve: () => void;
  writeFeedback: () => void;
  edit: () => void;
  move: (step: 1 | -1) => void;
  minimise: () => void;
  help: () => void;
}

const OURS = new Set(["a", "r", "e", "j", "k", "?"]);

export function useDecisionKeys(actions: KeyActions) {
  const latest = useRef(actions);
  useEffect(() => {
    latest.current = actions;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => onKey(event, latest.current);
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}

function onKey(event: KeyboardEvent, actions: KeyActions) {
  const key = bareKey(event);
  if (key === null || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  const isInside = actions.panel.current?.contains(document.activeElement) ?? false;
  if (key === "Escape" && (isInside || !isEditing(event.target))) return run(event, actions.minimise);
  if (!OURS.has(key) || isEditing(event.target)) return;
  if (!actions.acceptsKey()) return event.preventDefault();
  // A card nobody looks at is not decided: the first press only brings it up.
  if (!isInside) return run(event, actions.focusPanel);
  run(event, actionOf(key, actions));
}

function actionOf(key: string, actions: KeyActions): () => void {
  switch (key) {
    case "a":
      return actions.approve;
    case "r":
      return actions.writeFeedback;
    case "e":
      return actions.edit;
    case "j":
      return () => actions.move(1);
    case "k":
      return () => actions.move(-1);
    default:
      return actions.help;
  }
}

function run(event: KeyboardEvent, action: () => void) {
  // Or the letter would be typed into the field that gets the focus.
  event.preventDefault();
  action();
}
