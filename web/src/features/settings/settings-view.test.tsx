import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Project } from "../../api/projects";
import { violations } from "../../testing/axe";
import { renderWithQueries } from "../../testing/queries";
import { SettingsView } from "./settings-view";

const SERVER: Project["server"] = {
  approval_timeout_seconds: { MEDIUM: 300, HIGH: 600 },
  tool_approval_enabled: null,
  sandbox: { level: "full" },
};

function project(change: Partial<Project> = {}): Project {
  return {
    project_id: "p1",
    name: "shop",
    root: "/home/ana/shop",
    settings: { approval_timeout_seconds: { MEDIUM: 300, HIGH: 600 }, tool_approval_enabled: true, rehearse: false },
    approvals: "chosen",
    own: { approval_timeout_seconds: { MEDIUM: null, HIGH: null }, tool_approval_enabled: null },
    server: SERVER,
    ...change,
  };
}

/** What the server has, and what it was asked to change. */
let projects: Project[] = [];
let changes: unknown[] = [];

beforeEach(() => {
  projects = [project()];
  changes = [];
  vi.stubGlobal("fetch", (path: string, { method, body }: RequestInit) => {
    if (method === "GET") return Promise.resolve(Response.json({ success: true, projects, next_cursor: null }));
    changes.push([path, JSON.parse(String(body))]);
    return Promise.resolve(Response.json({ success: true, ...projects[0], changed_by: "Ana", changed_at: "2026-05-04T12:00:00Z" }));
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

async function open() {
  const view = renderWithQueries(<SettingsView />);
  await screen.findByRole("article", { name: "Workspace shop" });
  return view;
}

const theSwitch = () => screen.getByRole("switch", { name: "Approvals" });

test("approvals are switched off only after a second word", async () => {
  await open();
  expect(theSwitch()).toBeChecked();
  fireEvent.click(theSwitch());
  expect(changes).toEqual([]);
  const sheet = within(screen.getByRole("dialog", { name: "Switch approvals off in shop?" }));
  fireEvent.click(sheet.getByRole("button", { name: "Keep asking" }));
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(changes).toEqual([]);

  fireEvent.click(theSwitch());
  projects = [project({ approvals: "off", own: { ...project().own, tool_approval_enabled: false } })];
  fireEvent.click(screen.getByRole("button", { name: "Switch approvals off" }));
  await screen.findByText("Approvals are off");
  expect(changes).toEqual([["/my/projects/p1", { settings: { tool_approval_enabled: false } }]]);
  expect(theSwitch()).not.toBeChecked();
  expect(screen.getByText(/Last changed by Ana/)).toBeVisible();
});

test("where commands run is said, and why it is not better", async () => {
  const { unmount } = await open();
  expect(screen.getByText("Commands run in a sandbox: bubblewrap, Landlock and seccomp.")).toBeVisible();
  unmount();
  projects = [project({ server: { ...SERVER, sandbox: { level: "none", why: "bubblewrap is not installed" } } })];
  await open();
  expect(screen.getByText(/There is no sandbox.*\(bubblewrap is not installed\)/)).toBeVisible();
});

test("on is what the server has, at once; that runs may not bypass is a choice of its own", async () => {
  projects = [project({ approvals: "off" })];
  await open();
  projects = [project()];
  fireEvent.click(theSwitch());
  await screen.findByText("Approvals are on");
  fireEvent.click(screen.getByRole("checkbox", { name: /Refuse runs that ask nobody/ }));
  await screen.findByText("Runs that ask nobody are refused");
  expect(changes).toEqual([
    ["/my/projects/p1", { settings: { tool_approval_enabled: null } }],
    ["/my/projects/p1", { settings: { tool_approval_enabled: true } }],
  ]);
});

test("what the server keeps on nobody switches off here, and it says so", async () => {
  projects = [project({ approvals: "kept", server: { ...SERVER, tool_approval_enabled: true } })];
  await open();
  expect(theSwitch()).toBeDisabled();
  expect(theSwitch()).toHaveAccessibleDescription(/always asked/);
  expect(screen.getByText(/TOOL_APPROVAL_ENABLED=true/)).toBeVisible();
});

test("where the server has them off, on means always", async () => {
  projects = [project({ approvals: "off", server: { ...SERVER, tool_approval_enabled: false } })];
  await open();
  expect(screen.getByText(/TOOL_APPROVAL_ENABLED=false/)).toBeVisible();
  fireEvent.click(theSwitch());
  await waitFor(() => expect(changes).toEqual([["/my/projects/p1", { settings: { tool_approval_enabled: true } }]]));
});

test("a time limit is whole seconds, and an empty one is the server's", async () => {
  projects = [project({ own: { ...project().own, approval_timeout_seconds: { MEDIUM: 60, HIGH: null } } })];
  await open();
  const medium = screen.getByLabelText("Medium risk");
  const save = screen.getByRole("button", { name: "Save" });
  expect(save).toBeDisabled();
  expect(medium).toHaveAccessibleDescription("1 min");
  expect(screen.getByLabelText("High risk")).toHaveAccessibleDescription("10 min, as the server has it");
  fireEvent.change(medium, { target: { value: "0" } });
  expect(medium).toBeInvalid();
  expect(save).toBeDisabled();
  fireEvent.change(medium, { target: { value: "" } });
  fireEvent.change(screen.getByLabelText("High risk"), { target: { value: "90" } });
  fireEvent.click(save);
  await screen.findByText("Time limits saved");
  expect(changes).toEqual([["/my/projects/p1", { settings: { approval_timeout_seconds: { MEDIUM: null, HIGH: 90 } } }]]);
});

test("what others change is seen at once, and a refusal is told", async () => {
  const { client } = await open();
  projects = [project({ approvals: "off" })];
  await act(() => client.invalidateQueries({ queryKey: ["projects"] }));
  await waitFor(() => expect(theSwitch()).not.toBeChecked());
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ error: { message: "not yours to change" } }, { status: 403 })));
  await act(async () => fireEvent.click(theSwitch()));
  expect(await screen.findByRole("alert")).toHaveTextContent("That was not changed: not yours to change");
});

test("the page is sound for those who do not see", async () => {
  await open();
  expect(await violations(document.body)).toEqual([]);
});
