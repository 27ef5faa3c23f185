// The list of conversations. The server has it; we ask again whenever it must have changed.
import { useEffect, useState } from "react";

import { NotSignedIn, listSessions } from "../../api/client";
import type { SessionView } from "../../api/message";

export interface Sessions {
  sessions: SessionView[];
  error: string | null;
  isUnauthorized: boolean;
}

/** `version` is anything that changes when the list does: a run that starts or ends. */
export function useSessions(projectId: string, version: string): Sessions {
  const [state, setState] = useState<Sessions>({ sessions: [], error: null, isUnauthorized: false });
  useEffect(() => {
    let isCurrent = true;
    const apply = (change: (before: Sessions) => Sessions) => isCurrent && setState(change);
    listSessions(projectId).then(
      (sessions) => apply(() => ({ sessions, error: null, isUnauthorized: false })),
      (error: unknown) => apply((before) => failed(before, error)),
    );
    return () => {
      isCurrent = false;
    };
  }, [projectId, version]);
  return state;
}

/** What was loaded before is better than nothing. */
function failed({ sessions }: Sessions, error: unknown): Sessions {
  const message = error instanceof Error ? error.message : String(error);
  return { sessions, error: sessions.length > 0 ? null : message, isUnauthorized: error instanceof NotSignedIn };
}
