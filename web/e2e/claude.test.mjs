// Claude Code under the gate, as a person sees it: the real CLI, the real page, and a scripted model that hears both.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { inCell } from "./cell.mjs";
import { claudeByHand, heardByModel, installHook, planFile, putSettings, sendToClaude, startClaudeWorld, written } from "./claude-world.mjs";
import { RESULTS } from "./places.mjs";
import { decide, dialog, done, openTab, rest, send, transcript } from "./world.mjs";

const picture = (page, name) => page.screenshot({ path: join(RESULTS, `claude-${name}.png`) });

await inCell(import.meta.url, () => {
  test("what a person approves the CLI writes, and what they edit is what it writes", async (t) => {
    const world = await startClaudeWorld(t);
    const page = await openTab(world);
    await sendToClaude(page, "write a.txt");
    const card = dialog(page, "Write");
    await card.getByText("runs in Claude Code").waitFor();
    assert.match(await card.getByRole("region", { name: /Changes to/ }).textContent(), /one.*two/);
    assert.equal(await written(world, "a.txt"), null);
    await picture(page, "write");
    await decide(page, "Approve");
    await done(page);
    assert.equal(await written(world, "a.txt"), "one\ntwo\n");

    await sendToClaude(page, "write b.txt");
    await card.waitFor();
    await page.getByRole("button", { name: "Edit first" }).click();
    await page.getByLabel("Content").fill("mine\n");
    await decide(page, "Approve edited");
    await done(page, 2);
    assert.equal(await written(world, "b.txt"), "mine\n");
  });

  test("a rejection reaches the model in the person's words, and a request that nobody decides is denied", async (t) => {
    const world = await startClaudeWorld(t);
    const page = await openTab(world);
    await sendToClaude(page, "write a.txt");
    await dialog(page, "Write").waitFor();
    await decide(page, "Reject", "put it into notes/");
    await done(page);
    assert.ok((await heardByModel(world)).some((heard) => heard.includes("User rejected: put it into notes/")));

    await rest(world, "PATCH", "", { settings: { approval_timeout_seconds: { MEDIUM: 1, HIGH: 1 } } });
    await sendToClaude(page, "write late.txt");
    await done(page, 2);
    await transcript(page).getByText("Expired").waitFor();
    assert.ok((await heardByModel(world)).some((heard) => heard.includes("Approval timed out")));
    assert.deepEqual([await written(world, "a.txt"), await written(world, "late.txt")], [null, null]);
  });

  test("a stopped run takes its request back, and the conversation goes on after a restart", async (t) => {
    const world = await startClaudeWorld(t);
    const page = await openTab(world);
    await sendToClaude(page, "write a.txt");
    await dialog(page, "Write").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await transcript(page).getByText("Stopped", { exact: true }).waitFor();
    await dialog(page, "Write").waitFor({ state: "hidden" });
    assert.equal(await written(world, "a.txt"), null);

    await world.restart("SIGTERM");
    await page.getByText("Connected", { exact: true }).waitFor({ state: "attached" });
    await sendToClaude(page, "what did I say");
    await done(page);
    const asked = (await world.requests()).map(({ messages }) => JSON.stringify(messages));
    assert.match(asked.find((messages) => messages.includes("what did I say")), /write a\.txt/, "the CLI has the conversation from before");
  });

  test("a Claude Code conversation stays one after a reload", async (t) => {
    const world = await startClaudeWorld(t);
    const page = await openTab(world);
    await sendToClaude(page, "write a.txt");
    await dialog(page, "Write").getByLabel("Where it belongs").getByText("Claude Code").waitFor();
    await decide(page, "Approve");
    await done(page);
    await page.reload();
    await transcript(page).getByText("I write it.").waitFor();
    assert.equal(await page.getByLabel("Permission mode").inputValue(), "toolApproval");
    await send(page, "write b.txt");
    await dialog(page, "Write").getByText("runs in Claude Code").waitFor();
    await decide(page, "Approve");
    await done(page, 2);
    assert.equal(await written(world, "b.txt"), "one\ntwo\n");
  });

  test("questions are answered on the page, and the answers are what the model hears", async (t) => {
    const world = await startClaudeWorld(t);
    const page = await openTab(world);
    const other = await openTab(world, { context: page.context() });
    await sendToClaude(page, "ask me");
    const card = dialog(page, "AskUserQuestion");
    const library = card.getByRole("group", { name: /Which library/ });
    await library.waitFor();
    await picture(page, "questions");
    const sendButton = page.getByRole("button", { name: "Send answer" });
    await page.getByText("2 questions are open.").waitFor();
    assert.ok(await sendButton.isDisabled());
    await library.getByRole("radio", { name: "Luxon" }).focus();
    await page.keyboard.press("Space");
    const browsers = card.getByRole("group", { name: /Which browsers/ });
    await browsers.getByRole("checkbox", { name: "Chrome" }).check();
    await browsers.getByRole("checkbox", { name: "Firefox" }).check();
    await browsers.getByLabel(/^Other answer/).fill("lynx");
    await picture(page, "questions-answered");
    await page.keyboard.press("Control+Enter");
    await done(page);
    const heard = (await heardByModel(world)).join("\n");
    assert.match(heard, /"Which library should format dates\?"="Luxon"/);
    assert.match(heard, /"Which browsers do we support\?"="Firefox, Chrome, lynx"/);
    await transcript(page).getByText(/Answered by/).waitFor();
    await transcript(page).getByText("→ Firefox, Chrome, lynx", { exact: true }).waitFor();
    await picture(page, "questions-transcript");

    await other.goto(page.url());
    await transcript(other).getByText("→ Luxon", { exact: true }).waitFor();
    await other.goto(`${world.url}history`);
    const row = other.getByRole("button", { name: /Which library should format dates\? → Luxon/ });
    await row.click();
    await other.getByRole("group", { name: "Details of AskUserQuestion" }).getByText("→ Firefox, Chrome, lynx", { exact: true }).waitFor();
    await picture(other, "questions-history");
  });

  test("a plan is read as a text, sent back with what is missing, and approved", async (t) => {
    const world = await startClaudeWorld(t);
    const page = await openTab(world);
    await sendToClaude(page, "plan it");
    await dialog(page, "EnterPlanMode").waitFor();
    await page.getByRole("button", { name: "Start planning" }).click();
    // The model of these tests does not read where the CLI wants its plan to be: it asks.
    await dialog(page, "AskUserQuestion").waitFor();
    await page.getByLabel(/^Other answer/).fill(await planFile(world));
    await page.getByRole("button", { name: "Send answer" }).click();

    const card = dialog(page, "ExitPlanMode");
    await card.getByText("Move the settings").waitFor();
    assert.equal(await card.getByRole("link").count(), 0, "a plan is text: nothing in it can be followed");
    await card.getByText("[the notes](https://example.com/notes)").waitFor();
    await picture(page, "plan");
    await page.getByLabel("Feedback").fill("tests first");
    await page.getByRole("button", { name: "Keep planning" }).click();
    await transcript(page).getByText("I will: tests first").waitFor();
    await card.waitFor();
    await page.getByRole("button", { name: "Approve plan" }).click();
    await done(page);
    const heard = await heardByModel(world);
    assert.ok(heard.some((it) => it.includes("User rejected: tests first")));
    assert.ok(heard.some((it) => /approved your plan/i.test(it)), heard.join("\n"));
    await picture(page, "plan-transcript");
  });

  test("a subagent's call says whose it is: on its card, in the conversation and in the history", async (t) => {
    const world = await startClaudeWorld(t);
    const page = await openTab(world);
    await sendToClaude(page, "delegate");
    await dialog(page, /Task|Agent/).waitFor();
    await decide(page, "Approve");
    const card = dialog(page, "Bash");
    await card.getByTitle("subagent general-purpose").waitFor();
    await transcript(page).getByTitle("subagent general-purpose").waitFor();
    await picture(page, "subagent");
    await decide(page, "Approve");
    await done(page);
    await page.goto(`${world.url}history`);
    const row = page.getByRole("button", { name: /Bash.*subagent general-purpose/ });
    await row.click();
    await page.getByText(/wanted by its subagent general-purpose/).waitFor();
    await picture(page, "subagent-history");
  });

  // Which of the two it has, the CLI decides by its version and its model.
  const noting = [
    ["note the whole list", { CLAUDE_CODE_ENABLE_TODO_TOOLS: "1", CLAUDE_CODE_ENABLE_TASKS: "0" }],
    ["note task by task", { CLAUDE_CODE_ENABLE_TODO_TOOLS: "1" }],
  ];
  for (const [prompt, env] of noting) {
    test(`what the CLI notes to do is a list over the prompt: ${prompt}`, async (t) => {
      const world = await startClaudeWorld(t);
      await putSettings(world, { env });
      const page = await openTab(world);
      await sendToClaude(page, prompt);
      await dialog(page, "Write").waitFor();
      const line = page.getByRole("region", { name: "Tasks" }).getByRole("button", { name: /1 of 2 done.*Sweeping/ });
      await line.click();
      await picture(page, prompt.replaceAll(" ", "-"));
      await page.reload();
      await line.waitFor();
      await decide(page, "Approve");
      await done(page);
    });
  }

  test("what the CLI wrote is undone from the history", async (t) => {
    const world = await startClaudeWorld(t);
    const page = await openTab(world);
    await sendToClaude(page, "write a.txt");
    await dialog(page, "Write").waitFor();
    await decide(page, "Approve");
    await done(page);
    assert.equal(await written(world, "a.txt"), "one\ntwo\n");
    await page.goto(`${world.url}history`);
    await page.getByRole("button", { name: /Write.*a\.txt.*Completed/ }).click();
    await page.getByRole("button", { name: "Undo…" }).click();
    const sheet = page.getByRole("dialog", { name: /^Undo/ });
    await sheet.getByRole("button", { name: "Put back 1 file" }).waitFor();
    await picture(page, "undo");
    await sheet.getByRole("button", { name: "Put back 1 file" }).click();
    await sheet.getByText("1 file is as it was before.").waitFor();
    assert.equal(await written(world, "a.txt"), null);
  });

  test("a run of the CLI and one of our own loop share one queue", async (t) => {
    const world = await startClaudeWorld(t);
    const page = await openTab(world);
    await sendToClaude(page, "write cli.txt");
    await dialog(page, "Write").waitFor();
    await page.getByRole("button", { name: "Minimise" }).click();
    const own = await openTab(world, { context: page.context() });
    await send(own, "write own.txt");
    await own.getByRole("button", { name: "1 of 2" }).click();
    const list = own.getByRole("list", { name: "All that waits" });
    await list.getByText("runs in Claude Code").waitFor();
    assert.equal(await list.getByRole("button", { name: /\.txt/ }).count(), 2);
    await picture(own, "queue");
    await list.getByRole("button", { name: /own\.txt/ }).click();
    await decide(own, "Approve");
    await done(own);
    await dialog(own, "Write").getByText("runs in Claude Code").waitFor();
    await decide(own, "Approve");
    await done(page);
    assert.deepEqual([await written(world, "own.txt"), await written(world, "cli.txt")], ["one\ntwo\n", "one\ntwo\n"]);
  });

  test("the CLI started by hand, with only our hook in its settings: a write asks on the page, a read passes", async (t) => {
    const world = await startClaudeWorld(t);
    const page = await openTab(world);
    await installHook(world);
    const running = claudeByHand(world, "write a.txt");
    const card = dialog(page, "Write");
    await card.getByText("asked by another agent (API)").waitFor();
    await decide(page, "Approve");
    assert.match(await running, /created successfully/);
    assert.equal(await written(world, "a.txt"), "one\ntwo\n");
    assert.match(await claudeByHand(world, "read a.txt"), /two/);
    // The rules answered the read, and the hook tells of it a moment later.
    let calls = [];
    while (calls.length < 2) ({ executions: calls } = await rest(world, "GET", "tools/executions"));
    assert.deepEqual(
      calls.map((call) => [call.tool_name, call.reported_by ?? null]),
      [["Read", "hook"], ["Write", null]],
    );
  });
});
