// Where the tests find what they drive.
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export const BINARY = resolve(process.env.COUNTERSIGN_BIN ?? here("../../target/debug/countersign"));
export const CHROMIUM = process.env.COUNTERSIGN_CHROMIUM ?? "/usr/bin/chromium";
/** Pictures that the tests take, to be looked at. */
export const RESULTS = here("../test-results/");
