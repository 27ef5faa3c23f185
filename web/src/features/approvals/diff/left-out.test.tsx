// What was left out of a long diff comes on request, to its place.
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { useLayoutEffect } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { violations } from "../../../testing/axe";
import { approvalRequest } from "../../../testing/messages";
import { renderWithQueries } from "../../../testing/queries";
import type { DiffLine } from "./diff";
import { DiffPreview } from "./diff-preview";
import { LeftOut } from "./left-out";
import { MultiDiffPreview } from "./multi-diff-preview";
import { useDiff } from "./use-diff";
import type { DiffSource, ShownDiff } from "./use-diff";

const HEAD = 1000;
const TAIL = 200;

const onHidden = vi.fn<(lines: number) => void>();
const asked: string[] = [];
/** What the server answers with; a test may put something else here. */
let answer: (file: number, from: number, limit: number) => Response | Promise<Response>;

beforeEach(() => {
  asked.length = 0;
  onHidden.mockClear();
  vi.stubGlobal("fetch", (path: string) => {
    asked.push(path);
    const query = new URL(path, "http://server").searchParams;
    const [file = 0, from = 0, limit = 0] = ["file", "from", "limit"].map((name) => Number(query.get(name)));
    return Promise.resolve(answer(file, from, limit));
  });
});

afterEach(() => vi.unstubAllGlobals());

/** Every other line of a file is changed: the numbers of both sides run along. */
function wholeDiff(changes: number): string[] {
  const rows = Array.from({ length: changes }, (_, i) => [` same ${i + 1}`, `-old ${i + 1}`, `+new ${i + 1}`]).flat();
  return ["--- a/big.txt", "+++ b/big.txt", `@@ -1,${2 * changes} +1,${2 * changes} @@`, ...rows];
}

/** As the server sends it: both ends, with the head of a hunk before the second. */
function ends(whole: readonly string[]): string[] {
  const passed = whole.slice(3, -TAIL);
  const old = passed.filter((line) => !line.startsWith("+")).length + 1;
  const now = passed.filter((line) => !line.startsWith("-")).length + 1;
  return [...whole.slice(0, HEAD), `@@ -${old},${TAIL} +${now},${TAIL} @@`, ...whole.slice(-TAIL)];
}

function serve(whole: readonly string[]) {
  answer = (_, from, limit) => {
    const lines = whole.slice(from, from + limit);
    const next = from + lines.length < whole.length ? from + lines.length : null;
    return Response.json({ success: true, lines, total: whole.length, next });
  };
}

function source(changes: number): { whole: string[]; source: DiffSource } {
  const whole = wholeDiff(changes);
  serve(whole);
  return { whole, source: { request: { request_id: "q1", workspace: { project_id: "p2", name: "docs", root: "/docs" } }, file: 0, lines: ends(whole), omitted: whole.length - HEAD - TAIL } };
}

let shown: ShownDiff;

/** The place of the missing lines alone: rows by the thousand take their time here. */
function Place(props: DiffSource) {
  const diff = useDiff(props);
  useLayoutEffect(() => {
    shown = diff;
  });
  return (
    <main>
      <LeftOut missing={diff.missing} rest={diff.rest} />
    </main>
  );
}

/** Rows as "old/new text", heads of hunks as they are. */
function draw(lines: readonly DiffLine[]): string[] {
  return lines.map((line) => {
    if (line.kind === "file") return line.path;
    return line.kind === "hunk" ? line.text : `${line.oldNumber ?? ""}/${line.newNumber ?? ""} ${line.text}`;
  });
}

function expected(changes: number): string[] {
  const rows = Array.from({ length: changes }, (_, i) => [
    `${2 * i + 1}/${2 * i + 1} same ${i + 1}`,
    `${2 * i + 2}/ old ${i + 1}`,
    `/${2 * i + 2} new ${i + 1}`,
  ]);
  return [`@@ -1,${2 * changes} +1,${2 * changes} @@`, ...rows.flat()];
}

const MORE = { name: /^Show/ };

test("what was left out comes page by page to its place, with the right numbers", async () => {
  const { whole, source: props } = source(1100);
  expect([whole.length, props.omitted]).toEqual([3303, 2103]);
  const all = expected(1100);
  const tail = all.slice(-TAIL);
  renderWithQueries(<Place {...props} />);
  expect(draw(shown.before)).toEqual(all.slice(0, HEAD - 2));
  expect(draw(shown.after)).toEqual([expect.stringMatching(/^@@ /), ...tail]);
  expect(screen.getByRole("status")).toHaveTextContent("1,000 at a time");

  fireEvent.click(screen.getByRole("button", { name: "Show 2,103 lines left out" }));
  expect(screen.getByRole("status")).toHaveTextContent("Loading…");
  const next = await screen.findByRole("button", { name: "Show next 1,000" });
  expect(shown.missing).toBe(1103);
  expect(draw(shown.before)).toEqual(all.slice(0, HEAD - 2 + 1000));
  expect(draw(shown.after)).toEqual([expect.stringMatching(/^@@ /), ...tail]);
  fireEvent.click(next);
  const last = await screen.findByRole("button", { name: "Show next 103" });
  expect(screen.getByRole("status")).toHaveTextContent("103 lines still left out");
  expect(await violations()).toEqual([]);

  last.focus();
  fireEvent.click(last);
  expect(await screen.findByText("All 3,303 lines of this diff are shown.")).toHaveFocus();
  expect(screen.queryByRole("button")).toBeNull();
  expect(draw(shown.before)).toEqual(all);
  expect([shown.after, shown.missing]).toEqual([[], 0]);
  expect(asked).toEqual([
    "/my/projects/p2/approvals/q1/diff?file=0&from=1000&limit=1000",
    "/my/projects/p2/approvals/q1/diff?file=0&from=2000&limit=1000",
    "/my/projects/p2/approvals/q1/diff?file=0&from=3000&limit=103",
  ]);
});

test("an end that begins with its own head of a hunk keeps it", async () => {
  const rows = Array.from({ length: 1397 }, (_, i) => `+line ${i + 1}`);
  const whole = ["--- a/x", "+++ b/x", "@@ -0,0 +1,1397 @@", ...rows, "@@ -9,199 +2000,0 @@", ...Array.from({ length: 199 }, (_, i) => `-gone ${i}`)];
  serve(whole);
  renderWithQueries(<Place request={{ request_id: "q1", workspace: { project_id: "p2", name: "docs", root: "/docs" } }} file={0} lines={[...whole.slice(0, HEAD), ...whole.slice(-TAIL)]} omitted={400} />);
  fireEvent.click(screen.getByRole("button", { name: "Show 400 lines left out" }));
  await screen.findByText(/^All 1,600 lines/);
  expect(draw(shown.before)).toHaveLength(1600 - 2);
  expect(draw(shown.before).slice(1397, 1400)).toEqual(["/1397 line 1397", "@@ -9,199 +2000,0 @@", "9/ gone 0"]);
});

test("a page is asked for once, however often one presses", async () => {
  renderWithQueries(<Place {...source(700).source} />);
  const button = screen.getByRole("button", MORE);
  fireEvent.click(button);
  expect(button).toHaveAttribute("aria-disabled", "true");
  fireEvent.click(button);
  await screen.findByText(/^All/);
  expect(asked).toHaveLength(1);
});

test("lines that cannot be loaded stay counted, and can be asked for again", async () => {
  const { whole, source: props } = source(700);
  renderWithQueries(<Place {...props} />);
  answer = () => Promise.reject(new TypeError("Failed to fetch"));
  fireEvent.click(screen.getByRole("button", MORE));
  expect(await screen.findByRole("alert")).toHaveTextContent("These lines could not be loaded: Failed to fetch.");
  expect(shown.missing).toBe(903);
  expect(await violations()).toEqual([]);
  serve(whole);
  fireEvent.click(screen.getByRole("button", MORE));
  expect(screen.queryByRole("alert")).toBeNull();
  await screen.findByText(/^All/);
  expect(draw(shown.before)).toEqual(expected(700));
});

test.each([
  ["another diff", { lines: ["+evil"], total: 9 }, "the diff is not the one that you were asked about"],
  ["nothing", { lines: [], total: 2103 }, "the server sent other lines than were asked for"],
  ["too much", { lines: Array.from({ length: 904 }, () => "+x"), total: 2103 }, "the server sent other lines than were asked for"],
])("%s instead of the missing lines is not shown", async (_, page, message) => {
  renderWithQueries(<Place {...source(700).source} />);
  const { before, after } = shown;
  answer = () => Response.json({ success: true, next: null, ...page });
  fireEvent.click(screen.getByRole("button", MORE));
  expect(await screen.findByRole("alert")).toHaveTextContent(message);
  expect(shown).toMatchObject({ before, after, missing: 903 });
});

test("what the server has not kept is told as that", async () => {
  renderWithQueries(<Place {...source(700).source} />);
  answer = () => Response.json({ success: false, error: { code: "not_found", message: "nothing was left out" } }, { status: 404 });
  fireEvent.click(screen.getByRole("button", MORE));
  expect(await screen.findByRole("alert")).toHaveTextContent("could not be loaded: the server has not kept them.");
});

test("the warning and the count of unseen lines go with the lines that come", async () => {
  const { lines, omitted } = source(700).source;
  const request = approvalRequest({ diff_lines: [...lines], diff_stat: { added: 700, removed: 700, omitted } });
  const { container } = renderWithQueries(<DiffPreview request={request} onHidden={onHidden} />);
  expect(screen.getByText(/903 lines were left out of this diff/)).toBeVisible();
  expect(onHidden).toHaveBeenLastCalledWith(903);
  // The end stands after what is missing, and is there from the start.
  expect(container.textContent).toMatch(/Show 903 lines left out.*@@ .*new 700$/);
  fireEvent.click(screen.getByText("Show 903 lines left out"));
  await screen.findByText(/^All/);
  expect(screen.queryByText(/left out/)).toBeNull();
  await waitFor(() => expect(onHidden).toHaveBeenLastCalledWith(0));
  expect([...container.querySelectorAll("code")].map((code) => code.textContent)).toEqual(
    expected(700).slice(1).map((line) => line.replace(/^\S+ /, "")),
  );
});

test("of several files each asks for its own lines, by the server's number", async () => {
  const { lines } = source(700).source;
  const facts = { is_new_file: false, original_lines: 1, new_lines: 1 };
  const files = [
    { ...facts, file_path: "gone", is_deleted: true, index: 1, diff_lines: ["--- a/gone", "+++ b/gone", "@@ -1 +0,0 @@", "-bye"] },
    { ...facts, file_path: "big.txt", index: 4, diff_lines: [...lines], omitted_lines: 903 },
    { ...facts, file_path: "later", index: 2, diff_lines: [...lines], omitted_lines: 903 },
  ];
  const request = approvalRequest({ preview_type: "multi_diff", diff_lines: [], diff_stat: null, preview_data: { files } });
  renderWithQueries(<MultiDiffPreview request={request} onHidden={onHidden} />);
  // The last is closed: what came of it is not seen either.
  const closed = 1199 + 903;
  expect(onHidden).toHaveBeenLastCalledWith(903 + closed);
  fireEvent.click(screen.getByText("Show 903 lines left out"));
  await screen.findByText("All 2,103 lines of this diff are shown.");
  await waitFor(() => expect(onHidden).toHaveBeenLastCalledWith(closed));
  expect(asked).toEqual(["/my/projects/p1/approvals/q1/diff?file=4&from=1000&limit=903"]);
});
