// Why a press did nothing, for as long as it takes to read.
import { useCallback, useEffect, useState } from "react";

const SHOWN_MS = 5000;

export interface Told {
  text: string;
  /** Counts, so that the same sentence is said again. */
  count: number;
}

/** What is told of one card is not told of the next. */
export function useTold(look: string): { told: Told | null; tell: (text: string) => void } {
  const [said, setSaid] = useState<(Told & { look: string }) | null>(null);
  const tell = useCallback((text: string) => setSaid((before) => ({ text, look, count: (before?.count ?? 0) + 1 })), [look]);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => setSaid(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  return { told: said?.look === look ? said : null, tell };
}
