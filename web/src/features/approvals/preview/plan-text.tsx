import { MarkedText } from "../../../ui/marked-text";
import styles from "./plan-text.module.css";

/** The agent's plan, in its own words and apart from ours. */
export function PlanText({ plan }: { plan: string }) {
  return (
    <figure className={styles.plan} data-part>
      <figcaption>The agent’s plan</figcaption>
      <MarkedText text={plan} label="Plan" />
    </figure>
  );
}
