// A request that appears under the cursor, or under a hand that is typing, rests for a moment.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

export const INERT_MS = 400;

export interface Armed {
  /** For the buttons. */
  isArmed: boolean;
  /** For keys. One that comes too early is told; it does not make the next one wait longer. */
  acceptsKey: () => boolean;
}

/** `look` is what is on the screen: whenever it changes, the wait begins. */
export function useArmed(look: string | null): Armed {
  const [armedLook, setArmedLook] = useState<string | null>(null);
  const inertSince = useRef(0);

  // Before anything can be pressed on it: a press for the card before it must not reach this one.
  useLayoutEffect(() => {
    inertSince.current = performance.now();
  }, [look]);
  useEffect(() => {
    const timer = setTimeout(() => setArmedLook(look), INERT_MS);
    return () => clearTimeout(timer);
  }, [look]);

  const acceptsKey = useCallback(() => performance.now() - inertSince.current >= INERT_MS, []);
  return { isArmed: look !== null && armedLook === look, acceptsKey };
}
