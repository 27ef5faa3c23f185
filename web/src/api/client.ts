// The few REST calls of the page.
import type { SessionList, SessionView } from "./message";
import { pageSecretHeader } from "./page-secret";

/** The address of something in a workspace. */
export function inProject(projectId: string, path: string): string {
  return `/my/projects/${encodeURIComponent(projectId)}/${path}`;
}

/** The server does not know us: only the sign-in link helps. */
export class NotSignedIn extends Error {
  override name = "NotSignedIn";

  constructor() {
    super("you are signed out; open the sign-in link again");
  }
}

/** The server understood and said no. */
export class Refused extends Error {
  override name = "Refused";
  readonly status: number;
  /** A stable word for programs. */
  readonly code: string;
  readonly hint: string | null;

  constructor(status: number, { code, message, hint }: ErrorView) {
    super(message ?? `the server answered ${status}`);
    this.status = status;
    this.code = code ?? "";
    this.hint = hint ?? null;
  }
}

/** Why a call failed, in words that fit behind a colon. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface ErrorView {
  code?: string;
  message?: string;
  hint?: string | null;
}

/** One call of the REST surface. */
export async function call<T>(method: "GET" | "PUT" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<T> {
  const response = await fetch(path, {
    method,
    headers: { accept: "application/json", ...pageSecretHeader(), ...(body === undefined ? {} : { "content-type": "application/json" }) },
    credentials: "same-origin",
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.status === 401) throw new NotSignedIn();
  if (!response.ok) throw new Refused(response.status, await errorOf(response));
  return (await response.json()) as T;
}

/** Errors come as `{"error":{"message"}}`; a proxy in between may answer anything else. */
async function errorOf(response: Response): Promise<ErrorView> {
  try {
    return ((await response.json()) as { error?: ErrorView }).error ?? {};
  } catch {
    return {};
  }
}

export async function listSessions(projectId: string): Promise<SessionView[]> {
  return (await call<SessionList>("GET", inProject(projectId, "sessions?limit=50"))).sessions;
}

/**
 * Whether our cookie and the secret beside it are good. A refused WebSocket does not tell its status, so the socket asks here;
 * a server that cannot be reached is not a reason to send the person to the sign-in page.
 */
export async function isSignedIn(): Promise<boolean> {
  try {
    await call("GET", "/my/projects?limit=1");
    return true;
  } catch (error) {
    return !(error instanceof NotSignedIn);
  }
}
