// The secret that stands beside the cookie. The browser sends the cookie to every port of this host; what lies in
// localStorage only this origin, port included, can read. The server wants both on every request and on the socket.
import { readStored, writeStored } from "../lib/stored";

const KEY = "page-secret";
const IN_ADDRESS = /^#session=([0-9a-f]{64})$/;

/** For windows that may store nothing: then the secret lasts as long as the tab. */
let inMemory: string | null = null;

/** Signing in brings the secret behind `#`, which no server is told. It is kept, and leaves the address at once. */
export function takePageSecret(location: Location, history: History) {
  const secret = IN_ADDRESS.exec(location.hash)?.[1];
  if (secret === undefined) return;
  inMemory = secret;
  writeStored("localStorage", KEY, secret);
  history.replaceState(history.state, "", location.pathname + location.search);
}

/** Asked anew each time: another tab may have signed in since. */
export function pageSecret(): string | null {
  return readStored("localStorage", KEY) ?? inMemory;
}

/** The header of a REST call. */
export function pageSecretHeader(): Record<string, string> {
  const secret = pageSecret();
  return secret === null ? {} : { "x-countersign-session": secret };
}

/** A page cannot set headers of a WebSocket, but name protocols; the server answers with the first. */
export function pageSecretProtocols(): string[] {
  const secret = pageSecret();
  return secret === null ? [] : ["countersign", `countersign.session.${secret}`];
}
