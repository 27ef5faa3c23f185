import { Prose } from "../ui/prose";
import { useLink } from "./connection";
import styles from "./shell.module.css";

/** A message was left out because it could not be read: what is shown may not be all there is. */
export function LinkProblem() {
  const problem = useLink((state) => state.problem);
  if (problem === null) return null;
  return (
    <p className={styles.banner} role="alert">
      <Prose text={`The server sent a message that this page cannot read: ${problem}. Something may be missing here: reload the page.`} />
    </p>
  );
}
