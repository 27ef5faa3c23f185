import { expect, test } from "vitest";

import { ago, clockSkew, countdown, remaining } from "./time";

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
