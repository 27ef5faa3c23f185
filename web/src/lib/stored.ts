// Small things the browser remembers. Storage may be refused (private windows): then nothing is.

export function readStored(storage: "localStorage" | "sessionStorage", key: string): string | null {
  try {
    return window[storage].getItem(`countersign.${key}`);
  } catch {
    return null;
  }
}

export function writeStored(storage: "localStorage" | "sessionStorage", key: string, value: string | null) {
  try {
    if (value === null || value === "") window[storage].removeItem(`countersign.${key}`);
    else window[storage].setItem(`countersign.${key}`, value);
  } catch {
    // Not remembered; nothing depends on it.
  }
}
