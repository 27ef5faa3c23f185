const STEPS = ["KB", "MB", "GB"] as const;

/** `0 bytes`, `812 bytes`, `12 KB`, `1.4 MB`: a size for people. */
export function bytes(count: number): string {
  if (count < 1000) return `${count} ${count === 1 ? "byte" : "bytes"}`;
  let value = count;
  let unit = "";
  for (const step of STEPS) {
    if (value < 1000) break;
    value /= 1000;
    unit = step;
  }
  return `${value < 10 ? Number(value.toFixed(1)) : Math.round(value)} ${unit}`;
}
