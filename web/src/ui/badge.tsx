import type { ReactNode } from "react";

import { classNames } from "../lib/class-names";
import styles from "./badge.module.css";

export type Tone = "neutral" | "calm" | "good" | "warn" | "danger";

interface BadgeProps {
  tone?: Tone;
  /** A sign beside the word, so that the tone never rests on colour alone. */
  symbol?: string;
  title?: string;
  children: ReactNode;
}

export function Badge({ tone = "neutral", symbol, title, children }: BadgeProps) {
  return (
    <span className={classNames(styles.badge, styles[tone])} title={title}>
      {symbol && <span aria-hidden="true">{symbol}</span>}
      {children}
    </span>
  );
}
