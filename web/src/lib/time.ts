// Time for people. The server's clock decides; the browser's is only corrected by it.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How far the server's clock is ahead of ours, in milliseconds; zero for a time that cannot be read. */
export function clockSkew(serverNow: string, localNow: number): number {
  const server = Date.parse(serverNow);
  return Number.isNaN(server) ? 0 : server - localNow;
}

/** Milliseconds until a server time; negative once it has passed, not a number where there is none. */
export function remaining(until: string | null, localNow: number, skew: number): number {
  return Date.parse(until ?? "") - (localNow + skew);
}

/** `4:59`, `1:02:00`: a countdown in digits, in whole seconds that are left, never below zero. */
export function countdown(ms: number): string {
  const total = Math.max(0, Math.floor(ms / SECOND));
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor((total % 3600) / 60);
  const seconds = String(total % 60).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${seconds}` : `${minutes}:${seconds}`;
}

/** `just now`, `5 min ago`, `3 h ago`, `2 d ago`, then the date. */
export function ago(time: string, now: number): string {
  const passed = now - Date.parse(time);
  if (Number.isNaN(passed)) return "";
  if (passed < MINUTE) return "just now";
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min ago`;
  if (passed < DAY) return `${Math.floor(passed / HOUR)} h ago`;
  if (passed < 30 * DAY) return `${Math.floor(passed / DAY)} d ago`;
  return new Date(time).toLocaleDateString();
}

/** `140 ms`, `1.4 s`, `12 s`, `2 min 5 s`, `1 h 20 min`: how long something took. */
export function duration(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 9950) return `${(ms / SECOND).toFixed(1)} s`;
  const seconds = Math.round(ms / SECOND);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** The time of day, with the date unless it is today's; as the browser's language writes it. */
export function moment(time: string, now: number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  const isToday = date.toDateString() === new Date(now).toDateString();
  const day = isToday ? {} : ({ day: "numeric", month: "short" } as const);
  return date.toLocaleString(undefined, { ...day, hour: "2-digit", minute: "2-digit", ...(isToday ? { second: "2-digit" } : {}) });
}

/** Date and time in full. */
export function exactly(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? time : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}
