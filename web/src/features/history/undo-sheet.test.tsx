import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { UndoFile, UndoPlan } from "../../api/undo";
import { violations } from "../../testing/axe";
import { execution } from "../../testing/executions";
import { renderWithQueries } from "../../testing/queries";
import { UndoButtons } from "./undo-buttons";

let plan: UndoPlan | { code: string; status: number };
let posted: unknown[];
let answered: { body: unknown; status: number };

function file(path: string, change: Partial<UndoFile> = {}): UndoFile {
  const diff = { file_path: path, is_new_file: false, original_lines: 1, new_lines: 1, diff_lines: ["@@ -1 +1 @@", "-new", "+old"] };
  return { file_path: path, action: "restore", reason: null, diff, ...change };
}

function planned(files: UndoFile[], change: Partial<UndoPlan> = {}): UndoPlan {
  return { success: true, tool_ids: ["e1"], files, is_partial: false, digest: "d1", undone_by: null, undone_at: null, ...change };
}

beforeEach(() => {
  plan = planned([file("a.txt")]);
  posted = [];
  answered = { status: 200, body: { success: true, tool_ids: ["e1"], files: 1, left: [] } };
  vi.stubGlobal("fetch", (path: string, { method, body }: RequestInit) => {
    if (method === "POST") {
      posted.push([path, JSON.parse(String(body))]);
      return Promise.resolve(Response.json(answered.body, { status: answered.status }));
    }
    if ("code" in plan) return Promise.resolve(Response.json({ error: { code: plan.code, message: "no" } }, { status: plan.status }));
    return Promise.resolve(Response.json(plan));
  });
});

afterEach(() => vi.unstubAllGlobals());

async function open(name: string) {
  renderWithQueries(<UndoButtons call={execution()} showPreview={({ preview_data: data }) => JSON.stringify(data)} />);
  await userEvent.click(screen.getByRole("button", { name }));
}

const go = (name: string) => screen.findByRole("button", { name });

test("what would happen is shown, and exactly that is asked for", async () => {
  await open("Undo…");
  expect(await screen.findByText(/"file_path":"a.txt"/)).toBeVisible();
  expect(posted).toEqual([]);
  await userEvent.click(await go("Put back 1 file"));
  expect(await screen.findByRole("status")).toHaveTextContent("1 file is as it was before.");
  expect(posted).toEqual([["/my/projects/p1/tools/e1/undo", { digest: "d1", skip_refused: false }]]);
});

test("a whole run can be undone", async () => {
  await open("Undo the whole run…");
  await userEvent.click(await go("Put back 1 file"));
  expect(posted).toEqual([["/my/projects/p1/runs/r1/undo", { digest: "d1", skip_refused: false }]]);
});

test("what was changed since stays, and the others go back only when the person says so", async () => {
  plan = planned([file("a.txt"), file("b.txt", { action: "refused", reason: "it was changed since" })]);
  await open("Undo…");
  expect(await screen.findByText("These stay as they are")).toBeVisible();
  expect(await go("Put back 1 file")).toBeDisabled();
  await userEvent.click(screen.getByRole("checkbox", { name: "Put back the others all the same" }));
  await userEvent.click(await go("Put back 1 file"));
  expect(posted).toEqual([["/my/projects/p1/tools/e1/undo", { digest: "d1", skip_refused: true }]]);
});

test("what moved in between is looked at again", async () => {
  answered = { status: 409, body: { error: { code: "drift", message: "the files have changed since this was shown; look at it again" } } };
  await open("Undo…");
  await userEvent.click(await go("Put back 1 file"));
  expect(await screen.findByRole("alert")).toHaveTextContent("the files have changed since this was shown");
  await userEvent.click(await go("Look again"));
  expect(await go("Put back 1 file")).toBeEnabled();
  expect(screen.queryByRole("alert")).toBeNull();
});

test("where nothing is kept it says so", async () => {
  plan = { code: "nothing_to_undo", status: 404 };
  await open("Undo…");
  expect(await screen.findByText(/nothing to put back/)).toBeVisible();
});

test("that a command ran is said", async () => {
  plan = planned([file("a.txt")], { is_partial: true });
  await open("Undo…");
  expect(await screen.findByText(/What it changed beyond these files/)).toBeVisible();
  expect(await violations(document.body)).toEqual([]);
});

test("there is no way back for what did not run here or only read", () => {
  const { container } = renderWithQueries(
    <>
      <UndoButtons call={execution({ status: "rejected" })} showPreview={() => null} />
      <UndoButtons call={execution({ origin: "client" })} showPreview={() => null} />
      <UndoButtons call={execution({ risk_level: "LOW" })} showPreview={() => null} />
    </>,
  );
  expect(container).toBeEmptyDOMElement();
});
