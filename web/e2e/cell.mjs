// A place without a network, in which a test file starts itself once more: loopback, and no root. Only there the
// Claude Code CLI is started.
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const INSIDE = "COUNTERSIGN_TEST_CELL";
const CLI = "COUNTERSIGN_TEST_CLAUDE";

/** Loopback must be up before the rights to do so are given away; the CLI refuses much to root. */
const ENTER = 'PATH=$PATH:/usr/sbin ip link set lo up && exec unshare --user --map-user=1000 --map-group=1000 -- "$@"';

/** What a child may know of our environment: where the tests find things, and how their runner hears of them. */
const PASSED = ["COUNTERSIGN_BIN", "COUNTERSIGN_CHROMIUM", "NODE_TEST_CONTEXT"];

/** Where the CLI is, in a cell. */
export function cli() {
  return process.env[CLI];
}

/**
 * Runs the tests of a file in a cell: outside by starting the file there, inside at once. What the runner is told goes
 * straight through, so that each test is one of its own.
 */
export async function inCell(file, defineTests) {
  if (process.env[INSIDE]) return defineTests();
  if ((process.env.COUNTERSIGN_TEST_WITHOUT ?? "").split(",").includes("claude")) {
    console.log("the tests with the Claude Code CLI are left out, as COUNTERSIGN_TEST_WITHOUT says");
    return;
  }
  process.exitCode = await runInside(fileURLToPath(file));
  if (process.exitCode !== 0) console.error(NEVER_BEGAN);
}

const NEVER_BEGAN =
  "It failed in its cell. If it never began: user and network namespaces are needed (`unshare --user --net`); COUNTERSIGN_TEST_WITHOUT=claude leaves such tests out.";

function runInside(file) {
  const env = Object.fromEntries(PASSED.filter((name) => process.env[name]).map((name) => [name, process.env[name]]));
  const node = [process.execPath, ...process.execArgv, file];
  const cell = spawn("unshare", ["--user", "--map-root-user", "--net", "--", "sh", "-c", ENTER, "cell", ...node], {
    stdio: "inherit",
    env: { ...env, PATH: "/usr/bin:/bin", [INSIDE]: "yes", [CLI]: cliOutside() },
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => cell.kill(signal));
  return new Promise((resolve, reject) => {
    cell.once("error", reject);
    cell.once("exit", (code) => resolve(code ?? 1));
  });
}

function cliOutside() {
  if (process.env[CLI]) return process.env[CLI];
  const script = fileURLToPath(new URL("../../scripts/claude", import.meta.url));
  const { status, stdout, stderr } = spawnSync(script, ["path"], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}
