// A command line taken apart: each command, the program that would start, what it would do, and what the rules say.
import type { CommandPart } from "../../../api/message";
import { BLANKS } from "../../../lib/visible-text";
import { Prose } from "../../../ui/prose";
import { Visible } from "../../../ui/visible";
import styles from "./command-parts.module.css";
import { VerdictBadge } from "./verdict-badge";

export function CommandParts({ parts }: { parts: readonly CommandPart[] }) {
  if (parts.length === 0) return null;
  return (
    <div className={styles.frame}>
      {/* Not a <table>: on a narrow screen its rows become cards, and a styled-over table loses its meaning. */}
      <div className={styles.table} role="table" aria-label="Commands in this line">
        <div className={styles.head} role="row">
          <span role="columnheader">Command</span>
          <span role="columnheader">Would do</span>
          <span role="columnheader">Rules say</span>
        </div>
        {parts.map((part, index) => {
          // The parts of a line never move: their place is their identity.
          const key = `${index}`;
          return <PartRow key={key} part={part} />;
        })}
      </div>
    </div>
  );
}

function PartRow({ part }: { part: CommandPart }) {
  return (
    <div className={styles.row} role="row" data-verdict={part.verdict}>
      <div role="cell">
        <code className={styles.text}>
          <Visible text={part.text} blanks={BLANKS} />
        </code>
        <Program part={part} />
      </div>
      <div role="cell" className={styles.does}>
        <Lines texts={part.effects} none="Nothing that we know of" />
        <Lines texts={furtherReasons(part)} className={styles.reasons} />
      </div>
      <div role="cell" className={styles.verdict}>
        <VerdictBadge verdict={part.verdict} />
      </div>
    </div>
  );
}

/** What it would do is most often why it asks, and need not be read twice. */
function furtherReasons({ effects, reasons }: CommandPart): string[] {
  return reasons.filter((reason) => !effects.includes(reason));
}

function Program({ part: { program, wrappers } }: { part: CommandPart }) {
  return (
    <p className={styles.program}>
      {program === null ? (
        <span className={styles.unknown}>program not known before it runs</span>
      ) : (
        <>
          starts{" "}
          <code>
            <Visible text={program} />
          </code>
        </>
      )}
      {wrappers.length > 0 && (
        <>
          {" "}
          through{" "}
          <code>
            <Visible text={wrappers.join(" → ")} />
          </code>
        </>
      )}
    </p>
  );
}

interface LinesProps {
  texts: readonly string[];
  none?: string;
  className?: string | undefined;
}

function Lines({ texts, none, className }: LinesProps) {
  if (texts.length === 0) return none === undefined ? null : <p className={styles.none}>{none}</p>;
  return (
    <ul className={className}>
      {texts.map((text, index) => {
        const key = `${index}`;
        return (
          <li key={key}>
            <Prose text={text} />
          </li>
        );
      })}
    </ul>
  );
}
