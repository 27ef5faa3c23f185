// Every workspace is there: one queue over all of them, and each page of each.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { RESULTS } from "./places.mjs";
import { decide, dialog, done, openTab, projects, rest, send, startWorld, until } from "./world.mjs";

const SCENARIO = `
[[script]]
prompt = '(?m)^write (\\S+)'
[[script.turn]]
call = { tool = "Write", input = { file_path = "{{prompt.1}}", content = "written\\n" } }
[[script.turn]]
say = "Written."
`;

const start = (t) => startWorld(t, { scenario: SCENARIO, workspaces: ["shop", "docs"] });
const written = (folder, name) => readFile(join(folder, name), "utf8").catch(() => null);
const workspace = (page) => page.getByLabel("Workspace").filter({ visible: true });
const chosen = (page) => workspace(page).locator("option:checked").textContent();

test("a request of a second workspace is seen and decided", async (t) => {
  const world = await start(t);
  const [, shop, docs] = await projects(world);
  const page = await openTab(world);
  const { tool_id: id } = await rest(world, "POST", "tools/calls", { tool_name: "Write", tool_input: { file_path: "a.txt", content: "a" }, session_id: "caller" }, shop.project_id);
  const card = dialog(page, "Write");
  await card.waitFor();
  const where = card.getByLabel("Where it belongs");
  assert.match(await where.textContent(), /shop.*another workspace/s);
  assert.match(await page.title(), /^\(1\) Write · shop › .+ – Countersign$/);
  assert.match(await workspace(page).textContent(), /shop \(1 waiting\)/);
  await decide(page, "Approve");
  assert.equal((await rest(world, "GET", `tools/${id}?wait_seconds=30&known_status=awaiting_approval`, undefined, shop.project_id)).status, "approved");
  await card.waitFor({ state: "hidden" });

  // One of a run there, from the page of a third.
  await page.goto(`${world.url}history?project=${docs.project_id}`);
  await rest(world, "POST", "chat/messages", { content: "write there.txt", executor: "local" }, shop.project_id);
  await card.waitFor();
  await card.getByText("there.txt").first().waitFor();
  await decide(page, "Approve");
  await until(() => written(world.roots[1], "there.txt"), "it was written in its own workspace");
  assert.equal(await written(world.root, "there.txt"), null);
});

test("the workspace in the address is the one that is worked in, on every page", async (t) => {
  const world = await start(t);
  const [, shop] = await projects(world);
  const page = await openTab(world, { path: `agent?project=${shop.project_id}` });
  await until(async () => (await chosen(page)) === "shop", "the switch names it");
  await send(page, "write here.txt");
  await dialog(page, "Write").getByText("this conversation").waitFor({ state: "detached" });
  await decide(page, "Approve");
  await done(page);
  assert.equal(await written(world.roots[1], "here.txt"), "written\n");
  assert.equal(await written(world.root, "here.txt"), null);
  assert.match(page.url(), new RegExp(`/agent/.+\\?project=${shop.project_id}$`));
  await page.reload();
  await page.getByText("Written.").waitFor();

  await page.getByRole("link", { name: "History", exact: true }).click();
  const row = page.getByRole("button", { name: /Write here\.txt/ });
  await row.getByText("shop › write here.txt · ").waitFor();
  await page.screenshot({ path: join(RESULTS, "workspaces-history.png") });
  await row.click();
  await page.getByRole("button", { name: "Undo…" }).click();
  await page.getByRole("button", { name: "Put back 1 file" }).click();
  await page.getByText("1 file is as it was before.").waitFor();
  assert.equal(await written(world.roots[1], "here.txt"), null);
  await page.getByRole("button", { name: "Close" }).click();

  await writeFile(join(world.roots[1], "countersign.toml"), '[permissions]\ndeny = ["Bash(make:*)"]\n');
  await page.getByRole("link", { name: "Rules" }).click();
  await page.getByText("Bash(make:*)").waitFor();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("article", { name: "Workspace shop" }).waitFor();
  await page.getByRole("link", { name: "Rules" }).click();
  assert.match(page.url(), new RegExp(`/rules\\?project=${shop.project_id}$`));

  // The switch stays on the page one is on.
  await workspace(page).selectOption({ label: "workspace" });
  await page.getByText("No rules yet").waitFor();
  await page.getByRole("link", { name: "History", exact: true }).click();
  await page.getByText("No calls yet").waitFor();
  await workspace(page).selectOption({ label: "shop" });
  await page.getByRole("button", { name: /Write here\.txt/ }).waitFor();
});

test("an unknown workspace in the address says so, and offers those there are", async (t) => {
  const world = await start(t);
  const page = await openTab(world);
  await page.goto(`${world.url}agent?project=nowhere`);
  await page.getByRole("heading", { name: "No such workspace" }).waitFor();
  await page.getByText("nowhere").first().waitFor();
  await page.screenshot({ path: join(RESULTS, "workspaces-unknown.png") });
  await page.getByRole("list", { name: "Workspaces of this server" }).getByRole("link", { name: "docs" }).click();
  await until(async () => (await chosen(page)) === "docs", "it is open");
  await page.getByText("Connected", { exact: true }).waitFor();
});

test("what waits is listed by conversation, the open one first, then its workspace, then the others", async (t) => {
  const world = await start(t);
  const [first, shop] = await projects(world);
  const call = (name, session, project) => rest(world, "POST", "tools/calls", { tool_name: "Write", tool_input: { file_path: name, content: name }, session_id: session }, project.project_id);
  await call("far.txt", "far", shop);
  await call("near.txt", "near", first);
  const page = await openTab(world);
  await page.getByText("1 of 2").waitFor();
  await send(page, "write mine.txt");
  await page.getByText("1 of 3").waitFor();
  await page.getByRole("button", { name: "1 of 3" }).click();
  const list = page.getByRole("list", { name: "All that waits" });
  const rows = await list.getByRole("button", { name: /\.txt/ }).allTextContents();
  assert.deepEqual(rows.map((it) => /(\w+)\.txt/.exec(it)[1]), ["mine", "near", "far"]);
  const groups = await list.getByLabel("Where it belongs").allTextContents();
  assert.deepEqual(groups.map((it) => /another (?:conversation|workspace)/.exec(it)?.[0] ?? null), [null, "another conversation", "another workspace"]);
  await page.screenshot({ path: join(RESULTS, "workspaces-queue.png") });
});
