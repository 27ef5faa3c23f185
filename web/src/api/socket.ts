// The one WebSocket of the page: reconnects with backoff and resumes after the last logged
// message it has seen, so that a dropped connection loses nothing. Knows nothing of views.
import type { ClientCommand, ServerMessage } from "./message";
import { placeOf } from "./message";
import { pageSecretProtocols } from "./page-secret";
import { parseMessage } from "./parse-message";

/**
 * `catching-up`: the log is being replayed, so a pending request may turn out to be settled two messages later.
 * `live`: what we show is what is; only now may the person decide.
 */
export type Link = "connecting" | "catching-up" | "live" | "reconnecting" | "unauthorized";

export type SocketEvent = ServerMessage | { type: "link"; link: Link };

export interface AgentSocket {
  /** Follows a conversation of a workspace from its start. One that has not begun is followed as well. */
  open(sessionId: string, projectId: string): void;
  /** Returns whether the command left; nothing is queued for later. */
  send(command: ClientCommand): boolean;
  close(): void;
}

interface Options {
  /** The address for a workspace. */
  urlOf: (projectId: string) => string;
  onEvent: (event: SocketEvent) => void;
  /** A message came that cannot be read, and why. It is left out; the connection goes on. */
  onProblem: (problem: string) => void;
  isSignedIn: () => Promise<boolean>;
  random?: () => number;
}

const FIRST_DELAY_MS = 400;
const LONGEST_DELAY_MS = 15_000;

export function createAgentSocket({ urlOf, onEvent, onProblem, isSignedIn, random = Math.random }: Options): AgentSocket {
  let socket: WebSocket | null = null;
  let sessionId = "";
  let url = "";
  let after = 0;
  let attempt = 0;
  let link: Link | null = null;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let hasWarned = false;

  function setLink(next: Link) {
    if (next === link) return;
    link = next;
    onEvent({ type: "link", link: next });
  }

  function connect() {
    clearTimeout(retryTimer);
    drop();
    const current = new WebSocket(url, pageSecretProtocols());
    socket = current;
    let opened = false;
    current.addEventListener("open", () => {
      if (socket !== current) return;
      opened = true;
      transmit({ command: "resume", after, session_id: sessionId });
    });
    current.addEventListener("message", (event) => {
      if (socket === current) readFrame(event.data);
    });
    current.addEventListener("close", () => {
      if (socket === current) lost(opened);
    });
  }

  /** Lets go of the socket first, so that its late events find themselves orphaned. */
  function drop() {
    const old = socket;
    socket = null;
    old?.close();
  }

  async function lost(wasOpen: boolean) {
    socket = null;
    setLink("reconnecting");
    scheduleRetry();
    if (wasOpen || (await isSignedIn()) || socket !== null) return;
    clearTimeout(retryTimer);
    setLink("unauthorized");
  }

  function scheduleRetry() {
    const ceiling = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
    attempt += 1;
    // Half of it is jitter: a server that restarts is not met by every tab at once.
    retryTimer = setTimeout(connect, ceiling / 2 + (ceiling / 2) * random());
  }

  function readFrame(data: unknown) {
    const frame = parseMessage(data);
    if (frame.kind === "message") receive(frame.message);
    else if (frame.kind === "malformed") onProblem(frame.problem);
    else warnOnce(frame.type);
  }

  /** One line is enough to find out that the page is older than the server. */
  function warnOnce(type: string) {
    if (hasWarned) return;
    hasWarned = true;
    // oxlint-disable-next-line no-console -- nobody but a developer can do anything about it
    console.warn(`Countersign: messages of the unknown type ${type} are ignored`);
  }

  function receive(message: ServerMessage) {
    after = Math.max(after, placeOf(message) ?? 0);
    if (message.type === "system" && message.subtype === "caught_up") return setLink("live");
    onEvent(message);
    if (message.type === "system" && message.subtype === "resumed") {
      attempt = 0;
      setLink("catching-up");
    }
  }

  function transmit(command: ClientCommand): boolean {
    if (socket?.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(command));
    return true;
  }

  /** The network or the tab is back: no reason to sit out the backoff. */
  function hurry() {
    if (link === "reconnecting" && document.visibilityState === "visible") connect();
  }
  window.addEventListener("online", hurry);
  document.addEventListener("visibilitychange", hurry);

  return {
    open(id, projectId) {
      sessionId = id;
      url = urlOf(projectId);
      after = 0;
      attempt = 0;
      link = null;
      setLink("connecting");
      connect();
    },
    send: (command) => link === "live" && transmit(command),
    close() {
      window.removeEventListener("online", hurry);
      document.removeEventListener("visibilitychange", hurry);
      clearTimeout(retryTimer);
      drop();
    },
  };
}

/** The socket's address on the host that served the page. The requests of every workspace come along: one that nobody sees can only expire. */
export function agentSocketUrl(location: Location, projectId: string): string {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  return `${scheme}//${location.host}/api/terminal/ws/agent?${new URLSearchParams({ project: projectId, inbox: "all" })}`;
}
