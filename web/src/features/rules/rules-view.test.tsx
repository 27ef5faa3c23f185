import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { RuleSet } from "../../api/rules";
import { violations } from "../../testing/axe";
import { renderWithQueries } from "../../testing/queries";
import { checkResult, ruleFile, ruleSet, ruleView, simulation } from "../../testing/rules";
import { useRuleDraft } from "./draft-store";
import { RulesView } from "./rules-view";

type Handler = (body: unknown) => Response | Promise<Response>;

const initial = useRuleDraft.getInitialState();
let handlers: Record<string, Handler>;
let sent: { call: string; body: unknown }[];

beforeEach(() => {
  useRuleDraft.setState({ ...initial, draft: null }, true);
  sent = [];
  handlers = {};
  vi.stubGlobal("fetch", (path: string, { method, body }: RequestInit) => {
    const call = `${method} ${path.replace("/my/projects/p1/", "")}`;
    const parsed: unknown = typeof body === "string" ? JSON.parse(body) : undefined;
    sent.push({ call, body: parsed });
    return Promise.resolve(handlers[call]?.(parsed) ?? Response.json({}, { status: 404 }));
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

const answer = (body: unknown, status = 200) => Response.json(body, { status });
const refusal = (status: number, code: string, message: string, hint?: string) =>
  answer({ success: false, error: { code, message, hint } }, status);

async function open(tab: string, set: RuleSet = ruleSet(), path = `/rules/${tab}`) {
  handlers["GET rules"] ??= () => answer(set);
  window.history.replaceState(null, "", path);
  renderWithQueries(
    <RulesView
      projectId="p1"
      workspace="shop"
      tab={tab}
      sessionId="s1"
      showParts={(parts) => <ol aria-label="Parts">{parts.map(({ text }) => <li key={text}>{text}</li>)}</ol>}
      showRisk={(level) => <b>{level}</b>}
    />,
  );
  await vi.waitFor(() => expect(screen.queryByText(/^Loading/)).toBeNull());
}

function calls(call: string): unknown[] {
  return sent.filter((one) => one.call === call).map(({ body }) => body);
}

function row(place: number) {
  return within(screen.getByRole("group", { name: `Rule ${place}` }));
}

test("rules are grouped by what they do, each with where it comes from and how it is used", async () => {
  await open(
    "",
    ruleSet({
      rules: [
        ruleView({ uses: 3, last_used_at: new Date().toISOString(), origin: { kind: "approval", approval_id: "q9", path: null }, warnings: ["`cargo` runs `build.rs`"] }),
        ruleView({ id: "2", effect: "deny", rule: "Bash(rm\u202e:*)", why: "never again" }),
        ruleView({ id: "3", effect: "ask", rule: "WebFetch", source: "session", session_id: "s1", expires_at: "2126-01-01T00:00:00Z" }),
        ruleView({ id: null, effect: "deny", rule: "Read(~/.ssh/**)", source: "user", origin: { kind: "file", approval_id: null, path: "/home/me/config.toml" } }),
      ],
    }),
  );
  expect(screen.getAllByRole("heading", { level: 2 }).map((heading) => heading.textContent)).toEqual([
    "Deny never runs",
    "Ask waits for you",
    "Allow runs without asking",
  ]);
  const deny = within(screen.getByRole("region", { name: /^Deny/ }));
  expect(deny.getByText("never again")).toBeVisible();
  expect(deny.getByText("⟨U+202E⟩")).toBeVisible();
  expect(deny.getByText("yours")).toBeVisible();
  expect(deny.getByText("/home/me/config.toml")).toBeVisible();
  expect(deny.getAllByRole("button", { name: /Revoke/ }), "a file's rule is changed in its file").toHaveLength(1);
  const ask = within(screen.getByRole("region", { name: /^Ask/ }));
  expect(ask.getByRole("link", { name: "this conversation" })).toHaveAttribute("href", "/agent/s1");
  expect(ask.getByText(/until .*212[56]/)).toBeVisible();
  const allow = within(screen.getByRole("region", { name: /^Allow/ }));
  expect(allow.getByText(/used 3 times, last just now/)).toBeVisible();
  expect(allow.getByText("q9")).toBeVisible();
  expect(allow.getByRole("list", { name: "Warnings" })).toHaveTextContent("cargo runs build.rs");
  expect(await violations()).toEqual([]);
});

test("without rules the page says what happens then", async () => {
  await open("", ruleSet({ rules: [] }));
  expect(screen.getByText(/No rules yet/)).toBeVisible();
  expect(screen.getByRole("link", { name: "Add the first rule" })).toHaveAttribute("href", "/rules/edit");
});

test("what could not be loaded is said, and tried again", async () => {
  handlers["GET rules"] = () => refusal(500, "internal", "the disk is full");
  await open("");
  expect(screen.getByRole("alert")).toHaveTextContent("Could not load the rules: the disk is full");
  handlers["GET rules"] = () => answer(ruleSet());
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(await screen.findByText("Bash(cargo test:*)")).toBeVisible();
});

test("revoking takes a second click, and not the other half of a double click", async () => {
  handlers["DELETE rules/01A"] = () => answer(ruleSet({ version: "v2", rules: [] }));
  await open("");
  const button = screen.getByRole("button", { name: "Revoke: Bash(cargo test:*)" });
  await userEvent.dblClick(button);
  expect(calls("DELETE rules/01A")).toEqual([]);
  const sure = screen.getByRole("button", { name: "Revoke it?: Bash(cargo test:*)" });
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + 500);
  fireEvent.click(sure);
  expect(await screen.findByText(/No rules yet/)).toBeVisible();
  expect(calls("DELETE rules/01A")).toHaveLength(1);
  vi.restoreAllMocks();
});

test("a first click is forgotten when one goes elsewhere", async () => {
  await open("");
  await userEvent.click(screen.getByRole("button", { name: "Revoke: Bash(cargo test:*)" }));
  await userEvent.tab();
  expect(screen.getByRole("button", { name: "Revoke: Bash(cargo test:*)" })).toBeVisible();
});

test("a broken file says that everything asks, one that is not trusted shows what it would allow", async () => {
  handlers["POST rules/trust"] = () => answer(ruleSet({ version: "v2" }));
  await open(
    "",
    ruleSet({
      rules: [ruleView({ id: null, rule: "Bash(make:*)", source: "workspace", holds: false })],
      files: [
        ruleFile({ source: "user", path: "/home/me/config.toml", broken: "line 7 is no list" }),
        ruleFile({ trusted: false, digest: "f9", problems: [{ rule: "Bash(x", why: "it has no end", outcome: "allow" }] }),
        ruleFile({ path: "/w/not-there.toml", present: false, trusted: false }),
      ],
    }),
  );
  expect(screen.getByRole("region", { name: "Broken: /home/me/config.toml" })).toHaveTextContent(
    "Everything asks until it is mended: line 7 is no list",
  );
  expect(screen.getByText("not in force: workspace not trusted")).toBeVisible();
  expect(screen.getByRole("region", { name: /^Problems/ })).toHaveTextContent("Bash(x: it has no end");
  expect(screen.queryByText("/w/not-there.toml")).toBeNull();
  const file = within(screen.getByRole("region", { name: "Not trusted: /w/.countersign.toml" }));
  expect(file.getByText("Bash(make:*)")).toBeVisible();
  expect(await violations()).toEqual([]);
  await userEvent.click(file.getByRole("button", { name: "Trust this content" }));
  expect(calls("POST rules/trust")).toEqual([{ digest: "f9" }]);
  expect(await screen.findByText(/Trusted/)).toBeVisible();
});

test("a file that changed under the reader's eyes is not trusted", async () => {
  handlers["POST rules/trust"] = () => refusal(409, "changed", "the file has changed", "Read it again");
  await open("", ruleSet({ files: [ruleFile({ trusted: false })] }));
  await userEvent.click(screen.getByRole("button", { name: "Trust this content" }));
  expect(await screen.findByRole("alert")).toHaveTextContent("the file has changed Read it again");
});

test("rules are added, changed, removed and saved with the version that was read", async () => {
  handlers["PUT rules"] = () => answer(ruleSet({ version: "v2", rules: [ruleView({ why: "tests" }), ruleView({ id: "9", effect: "deny", rule: "Bash(curl:*)" })] }));
  await open("edit", ruleSet({ rules: [ruleView(), ruleView({ id: "2", rule: "Bash(ls)" }), ruleView({ id: null, rule: "Bash(file)", source: "user" })] }));
  expect(screen.getByRole("button", { name: "Save" })).toBeDisabled();
  expect(screen.queryByDisplayValue("Bash(file)"), "rules of files are not edited here").toBeNull();
  await userEvent.type(row(1).getByLabelText("Why"), "tests");
  await userEvent.click(screen.getByRole("button", { name: "Remove rule 2" }));
  await userEvent.click(screen.getByRole("button", { name: "Add rule" }));
  expect(row(2).getByLabelText("Rule")).toHaveFocus();
  await userEvent.keyboard("Bash(curl:*)");
  await userEvent.selectOptions(row(2).getByLabelText("Effect"), "Deny");
  expect(screen.getByText("3 unsaved changes")).toBeVisible();
  expect(await violations()).toEqual([]);
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText("Saved")).toBeVisible();
  expect(calls("PUT rules")).toEqual([
    {
      version: "v1",
      rules: [
        { id: "01A", effect: "allow", rule: "Bash(cargo test:*)", why: "tests" },
        { effect: "deny", rule: "Bash(curl:*)" },
      ],
    },
  ]);
  expect(screen.getByRole("button", { name: "Save" })).toBeDisabled();
});

test("the server's refusal stands at the rule it names, and the page judges nothing itself", async () => {
  handlers["PUT rules"] = () => refusal(400, "bad_rule", "`Bash(curl` has a `(` without a `)` at its end", "Write `Bash(curl:*)`");
  await open("edit");
  await userEvent.click(screen.getByRole("button", { name: "Add rule" }));
  await userEvent.keyboard("Bash(curl");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  const field = row(2).getByLabelText("Rule");
  expect(await row(2).findByRole("alert")).toHaveTextContent("Bash(curl has a ( without a ) at its end Write Bash(curl:*)");
  expect(field).toHaveFocus();
  expect(field).toBeInvalid();
  expect(field).toHaveAccessibleDescription(/without a/);
  expect(row(1).getByLabelText("Rule")).toBeValid();
});

test("when others were quicker their changes are shown, and the draft is kept", async () => {
  handlers["PUT rules"] = () => refusal(409, "rules_changed", "the rules have changed");
  await open("edit");
  await userEvent.click(screen.getByRole("button", { name: "Add rule" }));
  await userEvent.keyboard("Bash(mine)");
  handlers["GET rules"] = () => answer(ruleSet({ version: "v2", rules: [ruleView(), ruleView({ id: "7", effect: "deny", rule: "Bash(theirs)" })] }));
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  const note = await screen.findByRole("alert", { name: "The rules have changed" });
  expect(note).toHaveTextContent("Added: ✕Deny Bash(theirs)");
  expect(note).toHaveFocus();
  expect(screen.getByRole("button", { name: "Save" })).toBeDisabled();
  handlers["PUT rules"] = () => answer(ruleSet({ version: "v3" }));
  await userEvent.click(screen.getByRole("button", { name: "Reload, keep my draft" }));
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText("Saved")).toBeVisible();
  expect(calls("PUT rules").at(-1)).toMatchObject({
    version: "v2",
    rules: [{ id: "01A" }, { effect: "allow", rule: "Bash(mine)" }, { id: "7", rule: "Bash(theirs)" }],
  });
});

test("a draft survives leaving the editor", async () => {
  await open("edit");
  await userEvent.type(row(1).getByLabelText("Rule"), "!");
  cleanup();
  await open("edit");
  expect(row(1).getByLabelText("Rule")).toHaveValue("Bash(cargo test:*)!");
  expect(sessionStorage.getItem("countersign.rules-draft.p1")).toContain("Bash(cargo test:*)!");
  await userEvent.click(screen.getByRole("button", { name: "Discard" }));
  expect(row(1).getByLabelText("Rule")).toHaveValue("Bash(cargo test:*)");
  expect(sessionStorage.getItem("countersign.rules-draft.p1")).toBeNull();
});

test("a command is tried: the verdict, its parts, who spoke, and what would allow it", async () => {
  handlers["POST rules/check"] = () => answer(checkResult());
  await open("try");
  await userEvent.type(screen.getByLabelText("Command line"), "cargo test && git push{Enter}");
  const result = within(await screen.findByRole("region", { name: "Answer" }));
  expect(calls("POST rules/check")).toEqual([{ tool_name: "Bash", tool_input: { command: "cargo test && git push" } }]);
  expect(window.location.search).toBe("?tool=Bash&input=cargo+test+%26%26+git+push");
  expect(result.getByRole("heading", { name: "It would wait for you" })).toBeVisible();
  expect(result.getByText("MEDIUM")).toBeVisible();
  expect(result.getByRole("list", { name: "Parts" })).toHaveTextContent("sudo git push");
  expect(result.getByRole("list", { name: "Why" })).toHaveTextContent("cargo test is allowed (command 1)Bash(cargo test:*) project “tests are fine”");
  expect(result.getByRole("region", { name: "Explanation" })).toHaveTextContent("ask Bash");
  expect(await violations()).toEqual([]);
  await userEvent.click(result.getByRole("button", { name: "Add to draft: Bash(git push)" }));
  expect(screen.getByText(/With your unsaved draft: 1 change/)).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "What would this do?" }));
  expect(calls("POST rules/check").at(-1)).toMatchObject({
    rules: [
      { effect: "allow", rule: "Bash(cargo test:*)" },
      { effect: "allow", rule: "Bash(git push)" },
    ],
  });
});

test("other tools are tried with their input as JSON, in a mode", async () => {
  handlers["POST rules/check"] = () => answer(checkResult({ verdict: "deny", commands: [], proposals: [] }));
  await open("try");
  await userEvent.selectOptions(screen.getByLabelText("Tool"), "Read");
  await userEvent.selectOptions(screen.getByLabelText("Mode"), "plan");
  const input = screen.getByLabelText("Input as JSON");
  fireEvent.change(input, { target: { value: "{" } });
  await userEvent.click(screen.getByRole("button", { name: "What would this do?" }));
  expect(screen.getByRole("alert")).toHaveTextContent("not JSON");
  expect(calls("POST rules/check")).toEqual([]);
  fireEvent.change(input, { target: { value: '{"file_path":"a"}' } });
  await userEvent.click(screen.getByRole("button", { name: "What would this do?" }));
  expect(await screen.findByRole("heading", { name: "It would be refused" })).toBeVisible();
  expect(calls("POST rules/check")).toEqual([{ tool_name: "Read", tool_input: { file_path: "a" }, mode: "plan" }]);
  await userEvent.selectOptions(screen.getByLabelText("Tool"), "Another…");
  await userEvent.type(screen.getByLabelText("Name of the tool"), "mcp__db__query");
  await userEvent.click(screen.getByRole("button", { name: "What would this do?" }));
  expect(calls("POST rules/check").at(-1)).toMatchObject({ tool_name: "mcp__db__query", tool_input: {} });
});

test("an address with a call in it shows its answer; a refusal is shown as one", async () => {
  handlers["POST rules/check"] = () => refusal(400, "bad_rule", "the draft has a bad rule");
  await open("try", ruleSet(), "/rules/try?tool=Bash&input=ls&mode=plan");
  expect(await screen.findByText("the draft has a bad rule")).toBeVisible();
  expect(screen.getByLabelText("Command line")).toHaveValue("ls");
  expect(screen.getByLabelText("Mode")).toHaveValue("plan");
});

test("history is replayed: counts before and after, contradictions first", async () => {
  handlers["POST rules/simulate"] = () => answer(simulation());
  await open("history");
  await userEvent.click(screen.getByRole("button", { name: "Try on history" }));
  const outcome = within(await screen.findByRole("region", { name: "Outcome" }));
  expect(calls("POST rules/simulate")).toEqual([{ rules: [{ effect: "allow", rule: "Bash(cargo test:*)" }] }]);
  expect(outcome.getByRole("heading", { name: "2 of 120 calls would go differently" })).toBeVisible();
  expect(outcome.getByRole("row", { name: /Allow/ })).toHaveTextContent("6090+30");
  expect(outcome.getByRole("row", { name: /Deny/ })).toHaveTextContent("22same");
  const changed = within(outcome.getByRole("list", { name: "What changes" })).getAllByRole("listitem");
  expect(changed[0]).toHaveTextContent(/against a decision.*cargo test x.*a person rejected it/);
  expect(changed[1]).toHaveTextContent("a person approved it");
  expect(await violations()).toEqual([]);
});

test("a history without calls, and one that cannot be read, are told apart", async () => {
  handlers["POST rules/simulate"] = () => answer(simulation({ replayed: 0, changed: [] }));
  await open("history");
  await userEvent.click(screen.getByRole("button", { name: "Try on history" }));
  expect(await screen.findByText("No calls are recorded yet.")).toBeVisible();
  handlers["POST rules/simulate"] = () => refusal(503, "busy", "come back later");
  await userEvent.click(screen.getByRole("button", { name: "Try on history" }));
  expect(await screen.findByText("come back later")).toBeVisible();
});
