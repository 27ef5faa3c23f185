// The conversations of a workspace, as the server has them.
import { useQuery } from "@tanstack/react-query";

import { NotSignedIn, describeError, listSessions } from "../../api/client";
import type { SessionView } from "../../api/message";
import { queryKeys } from "../../api/query-keys";

export interface Sessions {
  sessions: readonly SessionView[];
  error: string | null;
  isUnauthorized: boolean;
}

const NO_SESSIONS: readonly SessionView[] = [];

export function useSessions(projectId: string): Sessions {
  const { data, error } = useQuery({ queryKey: queryKeys.sessions(projectId), queryFn: () => listSessions(projectId) });
  return {
    sessions: data ?? NO_SESSIONS,
    // What was loaded before is better than an error.
    error: error === null || data !== undefined ? null : describeError(error),
    isUnauthorized: error instanceof NotSignedIn,
  };
}
