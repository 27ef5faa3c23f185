// A request that appears under the cursor, or under a hand that is typing, rests for a moment.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

export const INERT_MS = 400;

export interface Armed {
  /** For the buttons. */
  isArmed: boolean;
  /** For keys. One that comes too early is told; it does not make the next one wait longer. */
  acceptsKey: () => boolean;
}

/** `look` is what is on the screen: whenever it changes, the wait begins, once it has been painted. A tab that paints nothing decides nothing. */
export function useArmed(look: string | null): Armed {
  const [armedLook, setArmedLook] = useState<string | null>(null);
  const paintedAt = useRef(Infinity);

  // Before anything can be pressed on it: a press for the card before it must not reach this one.
  useLayoutEffect(() => {
    paintedAt.current = Infinity;
  }, [look]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const cancel = afterPaint(() => {
      paintedAt.current = performance.now();
      timer = setTimeout(() => setArmedLook(look), INERT_MS);
    });
    return () => {
      cancel();
      clearTimeout(timer);
    };
  }, [look]);

  const acceptsKey = useCallback(() => performance.now() - paintedAt.current >= INERT_MS, []);
  return { isArmed: look !== null && armedLook === look, acceptsKey };
}

/** The frame after the next one begins when the next one has been painted. */
function afterPaint(action: () => void): () => void {
  let frame = 0;
  frame = requestAnimationFrame(() => {
    frame = requestAnimationFrame(action);
  });
  return () => cancelAnimationFrame(frame);
}
