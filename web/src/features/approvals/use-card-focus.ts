// Where the focus is while requests come and go. A card that arrives never takes it from anywhere; only a person moves into a card.
// Whoever decides with a key stays there for the next request of the same conversation.
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { RefObject } from "react";
import { flushSync } from "react-dom";

import { isEditing } from "../../lib/keyboard";
import { conversationKey } from "./queue/queue-order";
import type { Entry } from "./queue/queue-state";
import { useApprovals } from "./store";

export interface CardFocus {
  isInside: boolean;
  /** Whether the focus is in the panel now, in the card or not. */
  isHere: () => boolean;
  /** Into the card; returns whether there is one. */
  enter: () => boolean;
  /** Out of the card, but not away from the panel. */
  leave: () => void;
  /** Into the card, or back to where one came from. */
  hop: () => void;
  /** A decision on a request of this conversation has left. */
  decided: (conversation: string) => void;
}

function focusOn(element: RefObject<HTMLElement | null>): boolean {
  element.current?.focus({ preventScroll: true });
  return element.current !== null;
}

export function useCardFocus(panel: RefObject<HTMLElement | null>, body: RefObject<HTMLElement | null>, entry: Entry | null): CardFocus {
  const [isInside, setInside] = useState(false);
  /** The conversation in which the person decides with keys; none if they do not. */
  const staysIn = useRef<string | null>(null);
  /** Where they were before. What was written there is gone on with; from anywhere else it is the prompt. */
  const origin = useRef<HTMLElement | null>(null);
  const usesPointer = useRef(false);
  /** Also when what had the focus has just gone with its card. */
  const wasHere = useRef(false);
  const minimise = useApprovals((queue) => queue.minimise);
  const hold = useApprovals((queue) => queue.hold);

  const isHere = useCallback(() => panel.current?.contains(document.activeElement) ?? false, [panel]);
  const enter = useCallback(() => focusOn(body), [body]);
  const leave = useCallback(() => {
    staysIn.current = null;
    panel.current?.focus({ preventScroll: true });
  }, [panel]);
  const back = useCallback(() => {
    const from = origin.current?.isConnected ? origin.current : null;
    const field = isEditing(from) ? from : (document.getElementsByName("prompt")[0] ?? from);
    field?.focus();
  }, []);
  const hop = useCallback(() => {
    const isInCard = isHere() && document.activeElement !== panel.current;
    if (isInCard) return back();
    // What was put aside comes back first.
    flushSync(() => minimise(false));
    if (!enter()) back();
  }, [panel, isHere, enter, back, minimise]);
  const decided = useCallback(
    (conversation: string) => {
      staysIn.current = usesPointer.current ? null : conversation;
      // On a touch screen a focused field would raise the keyboard.
      if (usesPointer.current && window.matchMedia("(pointer: fine)").matches) back();
    },
    [back],
  );

  useEffect(() => {
    const onFocus = ({ target }: FocusEvent) => {
      const isIn = panel.current?.contains(target as Node) ?? false;
      wasHere.current = isIn;
      setInside(isIn && target !== panel.current);
      hold(isIn);
      if (isIn || !(target instanceof HTMLElement)) return;
      staysIn.current = null;
      if (target !== document.body) origin.current = target;
    };
    const onBlur = ({ relatedTarget }: FocusEvent) => {
      if (relatedTarget === null) setInside(false);
    };
    const onPointer = ({ target }: PointerEvent) => {
      usesPointer.current = true;
      if (!panel.current?.contains(target as Node)) staysIn.current = null;
    };
    const onKey = () => {
      usesPointer.current = false;
    };
    const all: [string, (event: never) => void][] = [["focusin", onFocus], ["focusout", onBlur], ["pointerdown", onPointer], ["keydown", onKey]];
    for (const [name, listener] of all) document.addEventListener(name, listener as EventListener, true);
    return () => {
      for (const [name, listener] of all) document.removeEventListener(name, listener as EventListener, true);
    };
  }, [panel, hold]);

  const look = entry?.look ?? null;
  const conversation = entry && conversationKey(entry.request);
  useLayoutEffect(() => {
    const active = document.activeElement;
    const isElsewhere = active !== null && active !== document.body && !panel.current?.contains(active);
    if (isElsewhere || !wasHere.current) return;
    if (conversation !== null && staysIn.current === conversation) enter();
    // What comes now is not what the person was in: they hold on to the panel, and letters rest.
    else panel.current?.focus({ preventScroll: true });
  }, [look, conversation, panel, enter]);

  return useMemo(() => ({ isInside, isHere, enter, leave, hop, decided }), [isInside, isHere, enter, leave, hop, decided]);
}
