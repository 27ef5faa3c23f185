import { useEffect, useId, useRef } from "react";
import type { ReactNode } from "react";

import { Button } from "./button";
import { Icon } from "./icon";
import styles from "./sheet.module.css";

interface SheetProps {
  title: string;
  /** For what needs room, such as a diff. */
  isWide?: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** A small modal page over everything else. The browser's own `<dialog>` keeps focus and Escape in order. */
export function Sheet({ title, isWide = false, onClose, children }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
  }, []);
  return (
    <dialog ref={dialog} className={styles.sheet} data-wide={isWide} aria-labelledby={heading} onClose={onClose}>
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
