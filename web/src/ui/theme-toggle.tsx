import { useState } from "react";

import { applyTheme, nextTheme, storedTheme } from "../lib/theme";
import { Button } from "./button";
import { Icon } from "./icon";

const ICONS = { system: "auto", light: "sun", dark: "moon" } as const;

export function ThemeToggle() {
  const [theme, setTheme] = useState(storedTheme);
  const label = `Colours: ${theme}. Switch to ${nextTheme(theme)}`;
  const onClick = () => {
    const next = nextTheme(theme);
    applyTheme(next);
    setTheme(next);
  };
  return (
    <Button look="quiet" size="icon" onClick={onClick} aria-label={label} title={label}>
      <Icon name={ICONS[theme]} />
    </Button>
  );
}
