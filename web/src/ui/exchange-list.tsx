import { BLANKS } from "../lib/visible-text";
import styles from "./exchange-list.module.css";
import { Visible } from "./visible";

interface ExchangeListProps {
  exchanges: readonly { question: string; answer: string | null }[];
  /** What stands in place of an answer that is not there. */
  unanswered: string;
}

/** Questions and what was answered, one below the other. */
export function ExchangeList({ exchanges, unanswered }: ExchangeListProps) {
  return (
    <dl className={styles.list}>
      {exchanges.map(({ question, answer }) => (
        <div key={question}>
          <dt>
            <Visible text={question} blanks={BLANKS} emptyLines />
          </dt>
          <dd data-missing={answer === null}>
            <span aria-hidden="true">→ </span>
            {answer === null ? unanswered : <Visible text={answer} blanks={BLANKS} emptyLines />}
          </dd>
        </div>
      ))}
    </dl>
  );
}
