import { classNames } from "../../../lib/class-names";
import { countdown, remaining } from "../../../lib/time";
import { useNow } from "../../../lib/use-now";
import styles from "./countdown.module.css";

const SOON_MS = 60_000;

/** Only the server says that a request has expired; at zero we say that we wait for its word. */
export function Countdown({ expiresAt, skew }: { expiresAt: string | null; skew: number }) {
  const left = remaining(expiresAt, useNow(), skew);
  if (Number.isNaN(left)) return null;
  const text = left > 0 ? `Expires in ${countdown(left)}` : "Time is up";
  return (
    <span className={classNames(styles.countdown, left < SOON_MS && styles.soon)} role="timer">
      <span aria-hidden="true">◷ </span>
      {text}
    </span>
  );
}
