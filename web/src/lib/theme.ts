// Light, dark, or what the system says.
import { readStored, writeStored } from "./stored";

export type Theme = "system" | "light" | "dark";

const ORDER: Theme[] = ["system", "light", "dark"];

export function storedTheme(): Theme {
  const stored = readStored("localStorage", "theme");
  return stored === "light" || stored === "dark" ? stored : "system";
}

/** The colours follow `data-theme` on the root (see `tokens.css`). */
export function applyTheme(theme: Theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  writeStored("localStorage", "theme", theme === "system" ? null : theme);
}

export function nextTheme(theme: Theme): Theme {
  return ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length] ?? "system";
}
