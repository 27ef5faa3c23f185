// The settings, within the same frame as a conversation: what waits for approval is never out of sight.
import { Suspense, lazy } from "react";

import { useAnyConnection } from "./connection";
import styles from "./settings-page.module.css";
import { Shell } from "./shell";

/** Few come here, and seldom: it is fetched when they do. */
const SettingsView = lazy(async () => ({ default: (await import("../features/settings/settings-view")).SettingsView }));

export function SettingsPage() {
  const socket = useAnyConnection();
  return (
    <Shell socket={socket} sessionId={null}>
      <Suspense fallback={<main className={styles.loading}>Loading…</main>}>
        <SettingsView />
      </Suspense>
    </Shell>
  );
}
