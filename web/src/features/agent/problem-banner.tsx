import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import styles from "./problem-banner.module.css";
import { useAgent } from "./store";

/** Trouble that is not about a run: the connection stays, and so does the page. */
export function ProblemBanner() {
  const problem = useAgent((state) => state.problem);
  const dismiss = useAgent((state) => state.dismissProblem);
  if (problem === null) return null;
  return (
    <div className={styles.banner} role="alert">
      <span>{problem}</span>
      <Button look="quiet" size="small" onClick={dismiss} aria-label="Dismiss">
        <Icon name="close" />
      </Button>
    </div>
  );
}
