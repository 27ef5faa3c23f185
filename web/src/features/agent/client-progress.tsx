// A call between its approval and its result, when a client runs it: is there one, and what has come so far?
import { useEffect, useState } from "react";

import styles from "./client-progress.module.css";
import type { LiveOutput, Whereabouts } from "./elsewhere";
import { OutputBox } from "./output-box";

/** A client that is there takes a call at once; so nobody having it after this means that nobody is there. */
const TAKEN_WITHIN_MS = 1500;

interface ClientProgressProps {
  whereabouts: Whereabouts;
  output: LiveOutput | undefined;
  /** Whether a person said yes, or the rules did. */
  byPerson: boolean;
}

export function ClientProgress({ whereabouts, output, byPerson }: ClientProgressProps) {
  if (whereabouts === "waiting") return <WaitingNote word={byPerson ? "Approved" : "Allowed by the rules"} />;
  if (whereabouts !== "running" || !output || output.text === "") return null;
  return <OutputBox output={output} />;
}

function WaitingNote({ word }: { word: string }) {
  const [isAlone, setAlone] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setAlone(true), TAKEN_WITHIN_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className={styles.note} role="status">
      {word}. Waiting for a client to run it{isAlone ? ": none is connected." : "."}
      {isAlone && (
        <span className={styles.hint}>
          {" "}
          Start one with <code>countersign client</code>.
        </span>
      )}
    </p>
  );
}
