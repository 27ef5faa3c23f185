import { useEffect, useRef, useState } from "react";

import { Button } from "./button";

/** A second click sooner than this was the other half of a double click. */
const DOUBLE_CLICK_MS = 400;
/** After this the first click is forgotten. */
const FORGET_MS = 6000;

interface ConfirmButtonProps {
  label: string;
  /** What it says while it waits for the second click. */
  question: string;
  /** What it is about, for those who hear the button without its surroundings. */
  subject: string;
  disabled?: boolean;
  onConfirm: () => void;
}

/** A button for what cannot be taken back: the first click asks, the second does. */
export function ConfirmButton({ label, question, subject, disabled = false, onConfirm }: ConfirmButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const askedAt = useRef(0);
  useEffect(() => {
    if (!isAsking) return;
    const timer = setTimeout(() => setAsking(false), FORGET_MS);
    return () => clearTimeout(timer);
  }, [isAsking]);
  const onClick = () => {
    if (!isAsking) {
      askedAt.current = performance.now();
      setAsking(true);
    } else if (performance.now() - askedAt.current >= DOUBLE_CLICK_MS) {
      setAsking(false);
      onConfirm();
    }
  };
  return (
    <>
      <Button
        size="small"
        look={isAsking ? "danger" : "quiet"}
        disabled={disabled}
        onClick={onClick}
        onBlur={() => setAsking(false)}
        aria-label={`${isAsking ? question : label}: ${subject}`}
      >
        {isAsking ? question : label}
      </Button>
      <span className="visually-hidden" role="status">
        {isAsking && `${question} Press again to confirm.`}
      </span>
    </>
  );
}
