import { Button } from "../ui/button";
import { Logo } from "../ui/logo";
import styles from "./sign-in-page.module.css";

/** The form is plain HTML: the server takes the token from the address, sets its cookie and strips it. */
export function SignInPage() {
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <Logo size={44} />
        <h1>You are not signed in</h1>
        <p>
          Open the sign-in link that <code>countersign</code> printed in the terminal.
        </p>
        <form className={styles.form} method="get" action="/agent">
          <label htmlFor="token">Or paste the token</label>
          <div>
            <input id="token" name="token" type="password" autoComplete="off" required />
            <Button look="primary" type="submit">
              Sign in
            </Button>
          </div>
        </form>
        <p className={styles.note}>Lost the link? Run <code>countersign login</code> where the server runs: it prints a fresh one.</p>
      </div>
    </main>
  );
}
