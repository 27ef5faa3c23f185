// The page itself: what it loads, who can use it, how it looks.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";

import { RESULTS } from "./places.mjs";
import { bringUp, decide, dialog, done, openTab, send, startWorld, transcript } from "./world.mjs";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const SCENARIO = `
[[script]]

[[script.turn]]
say = "# Plan\\n\\nI look at \`src/lib.rs\`, then I change it. ![spy](https://elsewhere.example/pixel.png)"
call = [
  { tool = "Write", input = { file_path = "src/lib.rs", content = "//! A library.\\n\\npub fn answer() -> u32 {\\n    42\\n}\\n" } },
  { tool = "Bash", input = { command = "printf 'a%sb' '\\u202e' > letters.txt", description = "Keep two letters" } },
]

[[script.turn]]
say = "Done."
`;

async function seriousViolations(page) {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => (await globalThis.axe.run()).violations);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
}

async function assertNoSidewaysScroll(page) {
  const [needs, has] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(needs <= has, `the page is ${needs} px wide on a screen of ${has}`);
}

for (const colorScheme of ["light", "dark"]) {
  test(`nothing is loaded from elsewhere and everyone can use it, ${colorScheme}`, async (t) => {
    const world = await startWorld(t, { scenario: SCENARIO });
    const hosts = new Set();
    const complaints = [];
    const policies = [];
    const prepare = (page) => {
      page.on("request", (request) => hosts.add(new URL(request.url()).host));
      page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("response", (response) => {
        if (response.status() === 200 && new URL(response.url()).pathname === "/agent") {
          policies.push(response.headers()["content-security-policy"] ?? "");
        }
      });
    };
    const page = await openTab(world, { colorScheme, prepare });
    assert.deepEqual(await seriousViolations(page), []);
    await send(page, "go");
    await page.getByText("1 of 2").waitFor();
    await bringUp(page, "Write");
    assert.deepEqual(await seriousViolations(page), []);
    await page.screenshot({ path: join(RESULTS, `wide-${colorScheme}.png`) });
    assert.match(await page.title(), /^\(2\) (Write|Bash) · workspace › go · .+ – Countersign$/);
    await bringUp(page, "Bash");
    await page.getByText("⟨U+202E⟩").first().waitFor();
    assert.deepEqual(await seriousViolations(page), []);
    await page.screenshot({ path: join(RESULTS, `command-${colorScheme}.png`) });
    await decide(page, "Reject");
    await page.getByText("1 of 1").waitFor();
    await decide(page, "Approve");
    await done(page);
    assert.deepEqual(await seriousViolations(page), []);

    assert.deepEqual([...hosts], [new URL(world.url).host]);
    assert.match(policies[0], /default-src 'none'/);
    assert.match(policies[0], /script-src 'self'/);
    assert.deepEqual(complaints, []);
  });

  test(`a phone can decide, ${colorScheme}`, async (t) => {
    const world = await startWorld(t, { scenario: SCENARIO });
    const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, colorScheme };
    const page = await openTab(world, phone);
    await assertNoSidewaysScroll(page);
    await send(page, "go");
    await page.getByText("1 of 2").waitFor();
    await bringUp(page, "Write");
    await assertNoSidewaysScroll(page);
    await page.screenshot({ path: join(RESULTS, `phone-${colorScheme}.png`) });
    await page.getByRole("button", { name: "Minimise" }).click();
    await page.getByRole("button", { name: "2 waiting" }).click();
    await decide(page, "Approve");
    await page.getByText("1 of 1").waitFor();
    await dialog(page, "Bash").waitFor();
    await decide(page, "Reject");
    await done(page);
    await assertNoSidewaysScroll(page);
    await page.screenshot({ path: join(RESULTS, `phone-done-${colorScheme}.png`) });
  });
}

test("without a sign-in the page says where to find the link", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await (await world.browser.newContext()).newPage();
  await page.goto(`${world.url}agent`);
  await page.getByText("countersign login", { exact: true }).waitFor();

  const signedIn = await openTab(world);
  await signedIn.context().clearCookies();
  await signedIn.reload();
  await signedIn.getByText("countersign login", { exact: true }).waitFor();
});

test("the demo plays without a key, and says that it is one", async (t) => {
  const world = await startWorld(t);
  const page = await openTab(world);
  await page.getByText("Demo model: scripted answers, no API key needed").waitFor();
  await page.getByRole("button", { name: "Show me around" }).click();
  await page.keyboard.press("Enter");
  for (const tool of ["Write", "Edit"]) {
    await dialog(page, tool).waitFor();
    await decide(page, "Approve");
  }
  const card = dialog(page, "Bash");
  await card.getByRole("table", { name: "Commands in this line" }).getByText(/hello\.txt\.count/).first().waitFor();
  await page.getByText("1 of 1").waitFor();
  await transcript(page).getByText(/\b13 countersign-demo/).waitFor();
  await decide(page, "Approve");
  await done(page);
  const file = await readFile(join(world.root, "countersign-demo/hello.txt"), "utf8");
  assert.equal(file, "Hello from Countersign.\nNothing happens on this machine before you have seen it.\n");
  assert.match(await readFile(join(world.root, "countersign-demo/hello.txt.count"), "utf8"), /^13 /);
});
