// The few REST calls of the page.
import type { SessionList, SessionView } from "./message";

const SESSIONS = "/my/projects/default/sessions?limit=50";

/** The server does not know us: only the sign-in link helps. */
export class NotSignedIn extends Error {
  override name = "NotSignedIn";
}

async function get<T>(path: string): Promise<T> {
  const response = await fetch(path, {
    headers: { accept: "application/json" },
    credentials: "same-origin",
  });
  if (response.status === 401) throw new NotSignedIn("not signed in");
  if (!response.ok) throw new Error(await messageOf(response));
  return (await response.json()) as T;
}

/** Errors come as `{"error":{"message"}}`; a proxy in between may answer anything else. */
async function messageOf(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as { error?: { message?: string } };
    return body.error?.message ?? `the server answered ${response.status}`;
  } catch {
    return `the server answered ${response.status}`;
  }
}

export async function listSessions(): Promise<SessionView[]> {
  return (await get<SessionList>(SESSIONS)).sessions;
}

/**
 * Whether our cookie is good. A refused WebSocket does not tell its status, so the socket asks here;
 * a server that cannot be reached is not a reason to send the person to the sign-in page.
 */
export async function isSignedIn(): Promise<boolean> {
  try {
    await listSessions();
    return true;
  } catch (error) {
    return !(error instanceof NotSignedIn);
  }
}
