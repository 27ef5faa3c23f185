// Whether a row is about to be pointed at or read, so that nothing may move beneath it.
import { useCallback, useEffect, useMemo, useRef } from "react";
import type { RefObject } from "react";

export interface HoldHandlers {
  onPointerEnter: () => void;
  onPointerLeave: () => void;
  onPointerDown: () => void;
  onKeyDown: () => void;
  onBlur: () => void;
}

export interface Hold {
  isHeld: () => boolean;
  /** For the list. */
  handlers: HoldHandlers;
}

/** `isReading`: a row is open. `onRelease` is called when a pointer has left and nothing else holds. */
export function useHold(scroller: RefObject<HTMLElement | null>, isReading: boolean, onRelease: () => void): Hold {
  const state = useRef({ isReading, onRelease, hasPointer: false, hasKeys: false });
  useEffect(() => {
    Object.assign(state.current, { isReading, onRelease });
  });
  const isHeld = useCallback(() => {
    const { isReading: isOpen, hasPointer, hasKeys } = state.current;
    return isOpen || hasPointer || hasKeys || (scroller.current?.scrollTop ?? 0) > 0;
  }, [scroller]);
  const handlers = useMemo(() => {
    const note = (change: Partial<typeof state.current>) => () => void Object.assign(state.current, change);
    const leave = (change: Partial<typeof state.current>) => () => {
      Object.assign(state.current, change);
      if (!isHeld()) state.current.onRelease();
    };
    return {
      onPointerEnter: note({ hasPointer: true }),
      onPointerLeave: leave({ hasPointer: false }),
      onPointerDown: note({ hasKeys: false }),
      onKeyDown: note({ hasKeys: true }),
      onBlur: note({ hasKeys: false }),
    };
  }, [isHeld]);
  return { isHeld, handlers };
}
