import { useAgent } from "../features/agent/store";
import { modeOf } from "../features/agent/transcript-state";
import { Button } from "../ui/button";
import { Logo } from "../ui/logo";
import styles from "./welcome.module.css";

const EXAMPLES = ["What is in this folder?", "Write a README for this project", "Run the tests and fix what fails"];
/** What the scripted model has an answer to. */
const DEMO_EXAMPLES = ["Show me around", "Create a file called note.txt with 'buy milk'", "Run ls -la"];

export function Welcome() {
  const isAsked = useAgent((state) => modeOf(state) !== "bypassPermissions");
  return (
    <div className={styles.welcome}>
      <Logo size={52} />
      <Pledge />
      {isAsked && <Steps />}
      <Examples />
    </div>
  );
}

function Steps() {
  return (
    <ol className={styles.steps}>
      <li>
        <strong>It proposes</strong>
        <span>every write, edit and command, as a diff or in full</span>
      </li>
      <li>
        <strong>You decide</strong>
        <span>approve, or reject and say what to do instead</span>
      </li>
      <li>
        <strong>Only that runs</strong>
        <span>what you saw, once, and it is on record</span>
      </li>
    </ol>
  );
}

/** What holds for the next run, and nothing else. */
function Pledge() {
  const isUnasked = useAgent((state) => modeOf(state) === "bypassPermissions");
  if (isUnasked) {
    return (
      <>
        <h1>Calls run without asking.</h1>
        <p>The next run asks nobody. What rules deny does not run, and every call is on record. To be asked, choose “Review &amp; Approve” below.</p>
      </>
    );
  }
  return (
    <>
      <h1>Nothing runs until you say so.</h1>
      <p>
        Ask for something. The agent reads on its own; before it writes a file or runs a command you see exactly what will
        happen, and approve or reject it.
      </p>
    </>
  );
}

/** Puts a prompt into the box; sending it is the person's. */
function Examples() {
  const isDemo = useAgent((state) => state.server?.demo);
  const write = useAgent((state) => state.write);
  if (isDemo === undefined) return null;
  const choose = (prompt: string) => {
    write(prompt);
    document.getElementsByName("prompt")[0]?.focus();
  };
  return (
    <ul className={styles.examples} aria-label="Examples">
      {(isDemo ? DEMO_EXAMPLES : EXAMPLES).map((prompt) => (
        <li key={prompt}>
          <Button size="small" onClick={() => choose(prompt)}>
            {prompt}
          </Button>
        </li>
      ))}
    </ul>
  );
}
