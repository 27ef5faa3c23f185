import { useEffect, useId, useRef } from "react";
import type { ReactNode } from "react";

import { Button } from "./button";
import { Icon } from "./icon";
import styles from "./sheet.module.css";

/** A small modal page over everything else. The browser's own `<dialog>` keeps focus and Escape in order. */
export function Sheet({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
  }, []);
  return (
    <dialog ref={dialog} className={styles.sheet} aria-labelledby={heading} onClose={onClose}>
      <header className={styles.header}>
        <h2 id={heading}>{title}</h2>
        <Button look="quiet" size="icon" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </Button>
      </header>
      {children}
    </dialog>
  );
}
