import type { ButtonHTMLAttributes, Ref } from "react";

import { classNames } from "../lib/class-names";
import styles from "./button.module.css";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: "primary" | "grave" | "danger" | "plain" | "quiet";
  size?: "normal" | "small" | "icon";
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ look = "plain", size = "normal", className, type = "button", ...rest }: ButtonProps) {
  return <button type={type} className={classNames(styles.button, styles[look], styles[size], className)} {...rest} />;
}
