// Commands rehearsed while they wait: what the card shows, what a yes and a no do, and what cannot be done.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { RESULTS } from "./places.mjs";
import { decide, dialog, done, openTab, readToEnd, rest, send, startWorld, transcript } from "./world.mjs";

const COMMANDS = {
  sed: { command: "sed -i 's/price = 12/price = 9/' shop.js" },
  format: { command: "cargo fmt" },
  package: { command: "npm pkg set scripts.start='node shop.js'" },
  failing: { command: "echo half > half.txt; echo 'no such shop' >&2; exit 3" },
  outside: { command: "bash install.sh" },
  away: { command: "echo hi > ../beside.txt" },
  endless: { command: "echo begun > begun.txt; sleep 1000", timeout: 2000 },
  copy: { command: "cp shop.js copy.js" },
};

const SCENARIO = Object.entries(COMMANDS)
  .map(
    ([name, input]) => `
[[script]]
prompt = '^${name}'
[[script.turn]]
call = { tool = "Bash", input = { command = ${JSON.stringify(input.command)}${input.timeout ? `, timeout = ${input.timeout}` : ""} } }
[[script.turn]]
say = "Done."
`,
  )
  .join("");

/** Where no command of a sandbox writes. */
const OUTSIDE = "/usr/local/written-by-a-rehearsal";

/** A workspace in which commands are rehearsed, and somebody who looks. */
async function start(t) {
  const toolchain = execFileSync("rustc", ["--print", "sysroot"], { encoding: "utf8" }).trim();
  const world = await startWorld(t, { scenario: SCENARIO, env: { PATH: `${toolchain}/bin:${process.env.PATH}` } });
  const file = (name) => join(world.root, name);
  const read = (name) => (existsSync(file(name)) ? readFileSync(file(name), "utf8") : null);
  writeFileSync(file("shop.js"), "const price = 12;\nconst name = 'tea';\n");
  await rest(world, "PATCH", "", { settings: { rehearse: true } });
  return { ...world, file, read, page: await openTab(world) };
}

/** Has the agent want a command, and returns its card once the rehearsal is over. */
async function rehearsal(page, prompt) {
  await send(page, prompt);
  const card = dialog(page, "Bash").getByRole("region", { name: "Rehearsal" });
  await card.getByRole("status").filter({ hasText: /^(Rehearsed|Not rehearsed)$/ }).waitFor();
  return card;
}

async function approve(page, word, runs) {
  await readToEnd(page);
  await decide(page, word);
  await done(page, runs);
}

test("what tools change is shown before it is, and a yes keeps exactly that", async (t) => {
  const { file, read, page } = await start(t);
  let card = await rehearsal(page, "sed");
  await card.getByText("exit code 0").waitFor();
  await card.getByText("const price = 9;").waitFor();
  await card.getByText("A yes keeps exactly this result; the command is not run again.").waitFor();
  await page.screenshot({ path: join(RESULTS, "rehearsal-sed.png") });
  assert.match(read("shop.js"), /price = 12/);
  await approve(page, "Approve result", 1);
  assert.equal(read("shop.js"), "const price = 9;\nconst name = 'tea';\n");

  mkdirSync(file("src"));
  writeFileSync(file("Cargo.toml"), '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2024"\n');
  writeFileSync(file("src/main.rs"), 'fn main ( ) { println! ( "tea" ) ; }\n');
  card = await rehearsal(page, "format");
  await card.getByText("1 file changed").waitFor();
  await page.screenshot({ path: join(RESULTS, "rehearsal-fmt.png") });
  assert.match(read("src/main.rs"), /main \( \)/);
  await approve(page, "Approve result", 2);
  assert.equal(read("src/main.rs"), 'fn main() {\n    println!("tea");\n}\n');

  writeFileSync(file("package.json"), '{\n  "name": "shop"\n}\n');
  card = await rehearsal(page, "package");
  await card.getByText('"start": "node shop.js"').waitFor();
  await approve(page, "Approve result", 3);
  assert.deepEqual(JSON.parse(read("package.json")).scripts, { start: "node shop.js" });
});

test("what fails is shown with its code, and a no throws all of it away", async (t) => {
  const { read, page } = await start(t);
  const card = await rehearsal(page, "failing");
  await card.getByText("✗exit code 3").waitFor();
  await card.getByRole("region", { name: "Output of the rehearsal" }).getByText("no such shop").waitFor();
  await card.getByRole("link", { name: "half.txt" }).waitFor();
  await page.screenshot({ path: join(RESULTS, "rehearsal-failing.png") });
  await decide(page, "Reject", "Open the shop first");
  await done(page);
  assert.equal(read("half.txt"), null);
});

test("what cannot be rehearsed, or not to its end, says so, and a yes runs it", async (t) => {
  const { file, read, page } = await start(t);
  writeFileSync(file("install.sh"), `echo 1 > made.txt\necho 2 > ${OUTSIDE}\n`);
  let card = await rehearsal(page, "outside");
  await card.getByText(/A yes runs the command for real, because the sandbox was in its way/).waitFor();
  await page.screenshot({ path: join(RESULTS, "rehearsal-outside.png") });
  assert.equal(read("made.txt"), null);
  await approve(page, "Approve", 1);
  assert.equal(read("made.txt"), "1\n");
  assert.equal(existsSync(OUTSIDE), false);

  card = await rehearsal(page, "away");
  await card.getByText("It changes files outside the workspace. A yes runs it for the first time.").waitFor();
  await page.screenshot({ path: join(RESULTS, "rehearsal-away.png") });
  await decide(page, "Reject");
  await done(page, 2);

  card = await rehearsal(page, "endless");
  await card.getByText("did not end").waitFor();
  await card.getByText(/because it had not ended after 2/).waitFor();
  await page.screenshot({ path: join(RESULTS, "rehearsal-endless.png") });
  assert.equal(read("begun.txt"), null);
  await decide(page, "Reject");
  await done(page, 3);
});

test("somebody switches it on, and what moved underneath is asked for again", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const shop = join(world.root, "shop.js");
  writeFileSync(shop, "const price = 12;\n");
  const page = await openTab(world, { path: "settings" });
  await page.getByRole("switch", { name: "Rehearse commands" }).click();
  await page.getByText("Commands are rehearsed while they wait").waitFor();
  await page.screenshot({ path: join(RESULTS, "rehearsal-settings.png") });
  await page.goto(`${world.url}agent`);
  const card = await rehearsal(page, "copy");
  await card.getByText("const price = 12;").waitFor();
  writeFileSync(shop, "const price = 1;\n");
  await decide(page, "Approve result");
  await page.getByText(/has changed since it was rehearsed/).waitFor();
  await card.getByText("const price = 1;").waitFor();
  await decide(page, "Approve result");
  await transcript(page).getByText(/^Run complete/).waitFor();
  assert.equal(readFileSync(join(world.root, "copy.js"), "utf8"), "const price = 1;\n");
});
