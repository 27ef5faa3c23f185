// The keys of the approval panel. Nothing here decides by itself: each key is one of the actions.
import { useEffect, useLayoutEffect, useRef } from "react";
import type { RefObject } from "react";

import { HOP_KEY, bareKey, isEditing, isPrintable } from "../../../lib/keyboard";

export interface KeyActions {
  panel: RefObject<HTMLElement | null>;
  /** Letters decide only while the focus is in here. None while nothing waits, or it was put aside. */
  card: RefObject<HTMLElement | null>;
  acceptsKey: () => boolean;
  /** Says why a press did nothing. */
  tell: (text: string) => void;
  /** Goes into the card, or back from it. */
  hop: () => void;
  /** Leaves the card, so that no further letter decides. */
  leave: () => void;
  approve: () => void;
  writeFeedback: () => void;
  edit: () => void;
  move: (step: 1 | -1) => void;
  minimise: () => void;
  help: () => void;
}

const OURS = new Set(["a", "r", "e", "j", "k", "?"]);

export const TOO_EARLY = "Too early: this card had just appeared. Press again.";
export const NOT_INSIDE = `Press ${HOP_KEY} to move into the card; letters decide only there.`;

export function useDecisionKeys(actions: KeyActions) {
  const latest = useRef(actions);
  useLayoutEffect(() => {
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
  if (key === HOP_KEY) return run(event, actions.hop);
  if (actions.card.current === null) return;
  if (key === "Escape" && (isIn(actions.panel) || !isEditing(event.target))) return run(event, actions.minimise);
  if (isEditing(event.target)) return;
  if (OURS.has(key)) return run(event, whatFor(key, isIn(actions.card), actions));
  if (isIn(actions.card) && isPrintable(key)) run(event, () => typed(key, actions));
}

/** Whether the focus is in there. */
function isIn(area: RefObject<HTMLElement | null>): boolean {
  return area.current?.contains(document.activeElement) ?? false;
}

/** Help helps anywhere; everything else is about a card that the person is in, and has had time to look at. */
function whatFor(key: string, isInside: boolean, actions: KeyActions): () => void {
  if (key === "?") return actions.help;
  if (!isInside) return () => actions.tell(NOT_INSIDE);
  if (!actions.acceptsKey()) return () => actions.tell(TOO_EARLY);
  return actionOf(key, actions);
}

/** Whoever types a word here believes to be elsewhere: its other letters must not decide. */
function typed(key: string, actions: KeyActions) {
  actions.leave();
  actions.tell(`“${key}” does nothing here. Press ${HOP_KEY} to move into the card again.`);
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
    default:
      return () => actions.move(-1);
  }
}

function run(event: KeyboardEvent, action: () => void) {
  // Or the letter would be typed into the field that gets the focus.
  event.preventDefault();
  action();
}
