// A request that appears under the cursor, or under a hand that is typing, stays inert for a moment.
import { useCallback, useEffect, useRef, useState } from "react";

export const INERT_MS = 400;

export interface Armed {
  /** For the buttons. */
  isArmed: boolean;
  /** For keys: each one that comes too early starts the wait again, since it was meant for something else. */
  acceptsKey: () => boolean;
}

export function useArmed(requestId: string | null): Armed {
  const [armedId, setArmedId] = useState<string | null>(null);
  const inertSince = useRef(0);

  useEffect(() => {
    inertSince.current = performance.now();
    const timer = setTimeout(() => setArmedId(requestId), INERT_MS);
    return () => clearTimeout(timer);
  }, [requestId]);

  const acceptsKey = useCallback(() => {
    const now = performance.now();
    const accepted = now - inertSince.current >= INERT_MS;
    if (!accepted) inertSince.current = now;
    return accepted;
  }, []);

  return { isArmed: requestId !== null && armedId === requestId, acceptsKey };
}
