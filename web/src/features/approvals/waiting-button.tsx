import { Button } from "../../ui/button";
import { shownEntries } from "./queue/queue-order";
import { useApprovals } from "./store";
import styles from "./waiting-button.module.css";

/** The way back to requests that were put aside. */
export function WaitingButton() {
  const count = useApprovals((queue) => shownEntries(queue).length);
  const isMinimised = useApprovals((queue) => queue.isMinimised);
  const minimise = useApprovals((queue) => queue.minimise);
  if (count === 0 || !isMinimised) return null;
  return (
    <Button className={styles.waiting} onClick={() => minimise(false)}>
      <span className={styles.dot} aria-hidden="true" />
      {count} waiting
    </Button>
  );
}
