import { expect, test } from "vitest";

import { bytes } from "./bytes";

test("sizes are told in the unit that fits", () => {
  expect([0, 1, 999, 1000, 1440, 12_000, 14_499, 1_400_000, 3e9].map(bytes)).toEqual([
    "0 bytes",
    "1 byte",
    "999 bytes",
    "1 KB",
    "1.4 KB",
    "12 KB",
    "14 KB",
    "1.4 MB",
    "3 GB",
  ]);
});
