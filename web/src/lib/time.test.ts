import { expect, test } from "vitest";

import { ago, clockSkew, countdown, duration, exactly, moment, remaining } from "./time";

test("a countdown reads as digits and never goes below zero", () => {
  expect(countdown(300_900)).toBe("5:00");
  expect(countdown(61_000)).toBe("1:01");
  expect(countdown(3_720_000)).toBe("1:02:00");
  expect(countdown(-5)).toBe("0:00");
});

test("the server's clock decides how much time is left", () => {
  const local = Date.parse("2026-05-04T12:10:00Z");
  // Our clock is ten minutes fast.
  const skew = clockSkew("2026-05-04T12:00:00Z", local);
  expect(remaining("2026-05-04T12:05:00Z", local, skew)).toBe(300_000);
  expect(clockSkew("nonsense", local)).toBe(0);
});

test("how long ago is told in one unit", () => {
  const now = Date.parse("2026-05-04T12:00:00Z");
  expect(ago("2026-05-04T11:59:40Z", now)).toBe("just now");
  expect(ago("2026-05-04T11:55:00Z", now)).toBe("5 min ago");
  expect(ago("2026-05-04T09:00:00Z", now)).toBe("3 h ago");
  expect(ago("2026-05-02T09:00:00Z", now)).toBe("2 d ago");
});

test("how long something took is told no finer than it matters", () => {
  expect([140.4, 1400, 9999, 12_400, 125_000, 4_800_000].map(duration)).toEqual(["140 ms", "1.4 s", "10 s", "12 s", "2 min 5 s", "1 h 20 min"]);
});

test("a moment of another day says which", () => {
  const now = new Date(2026, 4, 4, 18).getTime();
  const at = (day: number) => moment(new Date(2026, 4, day, 12, 34, 56).toISOString(), now);
  expect(at(4)).toMatch(/34.56/);
  expect(at(4)).not.toMatch(/May/);
  expect(at(3)).toMatch(/3/);
  expect(at(3)).toMatch(/34/);
  expect(moment("never", now)).toBe("");
  expect(exactly("never")).toBe("never");
});
