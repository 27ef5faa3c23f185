// Runs the browser tests, or says in a sentence why not.
import { spawnSync } from "node:child_process";
import { accessSync, constants, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { BINARY, CHROMIUM } from "../e2e/places.mjs";

const folder = fileURLToPath(new URL("../e2e/", import.meta.url));

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What is missing, as a sentence. */
function missing() {
  if (!isExecutable(CHROMIUM)) {
    return `There is no Chromium at ${CHROMIUM}: install it, say where it is with COUNTERSIGN_CHROMIUM, or leave these tests out with COUNTERSIGN_TEST_WITHOUT=chromium.`;
  }
  if (!isExecutable(BINARY)) return `There is no server at ${BINARY}: build it, or say where it is with COUNTERSIGN_BIN.`;
  return null;
}

function run() {
  const tests = readdirSync(folder).filter((name) => name.endsWith(".test.mjs"));
  const options = ["--test", "--test-concurrency=2", "--test-reporter=spec"];
  const { status } = spawnSync(process.execPath, [...options, ...tests.map((name) => folder + name)], { stdio: "inherit" });
  return status ?? 1;
}

function main() {
  if ((process.env.COUNTERSIGN_TEST_WITHOUT ?? "").split(",").includes("chromium")) {
    console.log("browser tests left out");
    return 0;
  }
  const why = missing();
  if (why === null) return run();
  console.error(why);
  return 1;
}

process.exitCode = main();
