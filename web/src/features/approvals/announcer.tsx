// Says in words, for those who listen, what the screen shows: new requests, and those about to expire.
import { useEffect, useRef, useState } from "react";

import { askedText } from "../../api/asking";
import { remaining } from "../../lib/time";
import { useNow } from "../../lib/use-now";
import { belongingText } from "./card/belonging-line";
import { originText } from "./card/origin-mark";
import { shownEntries } from "./queue/queue-order";
import type { Entry } from "./queue/queue-state";
import { useApprovals } from "./store";

const SOON_MS = 30_000;

export function Announcer() {
  const entries = useApprovals((queue) => queue.entries);
  const place = useApprovals((queue) => queue.place);
  const skew = useApprovals((queue) => queue.skew);
  const now = useNow(5000);
  const told = useRef(new Set<string>());
  const [text, setText] = useState("");

  useEffect(() => {
    const shown = shownEntries({ entries, place });
    const fresh = untold(told.current, shown, "new");
    const expiring = untold(
      told.current,
      shown.filter(({ request }) => remaining(request.expires_at, now, skew) < SOON_MS),
      "expiring",
    );
    const parts = [...fresh.map(newText), ...expiring.map(expiringText)];
    if (parts.length > 0) setText(parts.join(". "));
  }, [entries, place, now, skew]);

  return (
    <div className="visually-hidden" aria-live="polite">
      {text}
    </div>
  );
}

/** Those not announced yet in this way; from now on they are. */
function untold(told: Set<string>, entries: Entry[], what: string): Entry[] {
  return entries.filter(({ request }) => {
    const key = `${what} ${request.request_id}`;
    const isNew = !told.has(key);
    told.add(key);
    return isNew;
  });
}

function newText({ request }: Entry): string {
  const whose = originText(request);
  const asked = askedText(request);
  const waits = asked === null ? `waits for approval, ${request.risk_level.toLowerCase()} risk` : "waits for your answer";
  return `${request.tool_name} ${waits}${whose === null ? "" : `, ${whose}`}: ${asked ?? request.summary}. ${belongingText(request)}`;
}

function expiringText({ request }: Entry): string {
  return `${request.tool_name} expires soon. ${belongingText(request)}`;
}
