// What a request would do, as it is drawn.
import { fireEvent, screen, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";

import type { ChangedFile, CommandPart } from "../../../api/message";
import { violations } from "../../../testing/axe";
import { approvalRequest, commandRequest } from "../../../testing/messages";
import { renderWithQueries } from "../../../testing/queries";
import { CommandPreview } from "./command-preview";
import { DiffPreview } from "../diff/diff-preview";
import { MultiDiffPreview } from "../diff/multi-diff-preview";

const onHidden = vi.fn<(lines: number) => void>();

const PARTS: CommandPart[] = [
  { text: "cargo test", program: "/bin/cargo", wrappers: [], verdict: "allow", effects: ["runs programs"], reasons: ["allowed by `Bash(cargo:*)`"] },
  { text: "sudo env rm x\u202e", program: "/bin/rm", wrappers: ["sudo", "env"], verdict: "ask", effects: ["deletes `x`"], reasons: [] },
  { text: '"$TOOL"          x', program: null, wrappers: [], verdict: "deny", effects: [], reasons: ["nobody knows"] },
];

function command(text: string, parts?: CommandPart[]) {
  const request = commandRequest(text);
  return { ...request, preview_data: { ...request.preview_data, ...(parts ? { parts } : {}) } };
}

test("a command line is taken apart: what starts, through what, what it does, what the rules say", async () => {
  renderWithQueries(<CommandPreview request={command("…", PARTS)} onHidden={() => {}} />);
  const [, first, second, third] = within(screen.getByRole("table", { name: "Commands in this line" })).getAllByRole("row");
  expect(first).toHaveTextContent(/cargo test.*starts \/bin\/cargo.*runs programs.*allowed by Bash\(cargo:\*\).*Allowed/);
  expect(second).toHaveTextContent(/⟨U\+202E⟩.*starts \/bin\/rm through sudo → env.*deletes x.*Asks/);
  expect(third).toHaveTextContent(/⟨10 blanks⟩.*program not known before it runs.*Nothing that we know of.*nobody knows.*Denied/);
  expect(screen.getByText("/w")).toBeVisible();
  expect(await violations()).toEqual([]);
});

test("what a command would do is not told a second time as the reason to ask", () => {
  const part: CommandPart = { text: "touch a", program: "/bin/touch", wrappers: [], verdict: "ask", effects: ["changes `a`"], reasons: ["changes `a`", "no rule allows it"] };
  renderWithQueries(<CommandPreview request={command("touch a", [part])} onHidden={() => {}} />);
  expect(screen.getAllByRole("listitem").map((item) => item.textContent)).toEqual(["Deletes files", "changes a", "no rule allows it"]);
});

test("a last line end that comes or goes is told apart from other line ends", () => {
  const data = { file_path: "b", is_new_file: false, original_lines: 1, new_lines: 1 };
  const { rerender } = renderWithQueries(<DiffPreview request={approvalRequest({ preview_data: { ...data, line_endings: { from: "LF", to: "LF", final_newline: "removed" } } })} onHidden={onHidden} />);
  expect(screen.getByText("last line end removed")).toBeVisible();
  expect(screen.queryByText(/line endings/)).toBeNull();
  rerender(<DiffPreview request={approvalRequest({ preview_data: { ...data, line_endings: { from: "CRLF", to: "LF", final_newline: "removed" } } })} onHidden={onHidden} />);
  expect(screen.getByText("line endings CRLF → LF")).toBeVisible();
});

test("an old request has no parts and is shown without", () => {
  renderWithQueries(<CommandPreview request={command("ls")} onHidden={() => {}} />);
  expect(screen.queryByRole("table")).toBeNull();
  expect(screen.getByText("ls")).toBeVisible();
});

test("a line that runs far to the right is flagged with its length", () => {
  renderWithQueries(<CommandPreview request={command(`ls\n${"x".repeat(1200)}\n${"y".repeat(400)}`)} onHidden={() => {}} />);
  expect(screen.getByText(/Line 2 has 1,200 characters, and 1 more long line/)).toBeVisible();
});

function file(path: string, change: Partial<ChangedFile> = {}): ChangedFile {
  return { file_path: path, is_new_file: false, original_lines: 1, new_lines: 1, diff_lines: [`--- a/${path}`, `+++ b/${path}`, "@@ -1 +1 @@", "-old", `+new ${path}`], omitted_lines: 0, ...change };
}

function several(...files: ChangedFile[]) {
  const request = approvalRequest({ preview_type: "multi_diff", diff_lines: [], diff_stat: null, preview_data: { files } });
  return renderWithQueries(<MultiDiffPreview request={request} onHidden={onHidden} />);
}

test("several files are listed to jump to, deletions first", async () => {
  several(
    file("a.rs"),
    file("gone.md", { is_deleted: true, diff_lines: ["--- a/gone.md", "+++ /dev/null", "@@ -1 +0,0 @@", "-bye"] }),
  );
  const links = within(screen.getByRole("navigation", { name: "Changed files" })).getAllByRole("link");
  expect(links.map((link) => link.textContent)).toEqual(["gone.md", "a.rs"]);
  expect(screen.getAllByRole("region", { name: /^Changes to [ag]/ }).map((region) => region.textContent)).toEqual([
    expect.stringContaining("bye"),
    expect.stringContaining("new a.rs"),
  ]);
  expect(onHidden).toHaveBeenLastCalledWith(0);
  expect(await violations()).toEqual([]);
});

test("a jump opens the file and goes there, and leaves the address alone", () => {
  several(file("a.rs"), file("b.rs"));
  const [, section] = screen.getAllByRole("group").filter((element) => element instanceof HTMLDetailsElement);
  const details = section as HTMLDetailsElement;
  const scroll = vi.fn<() => void>();
  details.scrollIntoView = scroll;
  details.open = false;
  fireEvent.click(screen.getByRole("link", { name: "b.rs" }));
  expect(details.open).toBe(true);
  expect(scroll).toHaveBeenCalledOnce();
  expect(details).toContainElement(document.activeElement as HTMLElement);
  expect(window.location.hash).toBe("");
});

test("what happens to a file beside its lines is told in chips", () => {
  several(
    file("b", { renamed_from: "a", line_endings: { from: "CRLF", to: "LF" } }),
    file("run.sh", { old_mode: "100644", new_mode: "100755", diff_lines: [] }),
    file("link", { link_target: "/etc/passwd", is_new_file: true, diff_lines: [] }),
    file("logo.png", { is_binary: true, original_size: 12_000, new_size: 14_000, diff_lines: [] }),
  );
  for (const chip of [
    "renamed from a",
    "line endings CRLF → LF",
    "mode 100644 → 100755",
    "link to /etc/passwd",
    "New file",
    "binary, 12 KB → 14 KB",
    "Not text: no lines to show",
  ]) {
    expect(screen.getByText(chip)).toBeVisible();
  }
});

test("lines that were left out are counted, and so are those nobody has opened", () => {
  const rows = Array.from({ length: 1200 }, (_, i) => `+line ${i}`);
  several(
    file("huge", { diff_lines: ["--- a/huge", "+++ b/huge", "@@ -0,0 +1,1200 @@", ...rows], omitted_lines: 5000 }),
    file("later"),
  );
  // Not cut as we know it: nobody can say where they belong.
  expect(screen.getByText("… 5,000 lines left out")).toBeVisible();
  // 201 behind "show more", 5,000 left out, and the three rows of the file that is still closed.
  expect(onHidden).toHaveBeenLastCalledWith(201 + 5000 + 3);
  const closed = screen.getAllByRole("group").filter((element) => element instanceof HTMLDetailsElement)[1] as HTMLDetailsElement;
  closed.open = true;
  fireEvent(closed, new Event("toggle"));
  expect(onHidden).toHaveBeenLastCalledWith(201 + 5000);
});

test("a single diff has the same chips, and says what was left out", () => {
  const request = approvalRequest({
    diff_stat: { added: 1, removed: 0, omitted: 70 },
    preview_data: { file_path: "b", is_new_file: false, original_lines: 1, new_lines: 2, renamed_from: "a\u200b", new_mode: "100755", old_mode: "100644" },
  });
  renderWithQueries(<DiffPreview request={request} onHidden={onHidden} />);
  expect(screen.getByText(/renamed from a/)).toHaveTextContent("renamed from a⟨U+200B⟩");
  expect(screen.getByText("mode 100644 → 100755")).toBeVisible();
  expect(screen.getByText("… 70 lines left out")).toBeVisible();
  expect(onHidden).toHaveBeenLastCalledWith(70);
});

test("blanks inside a changed line are counted, indentation is not", () => {
  const request = approvalRequest({
    diff_lines: ["--- a/x", "+++ b/x", "@@ -0,0 +1,2 @@", `+${" ".repeat(20)}return;${" ".repeat(9)}evil()`, `+${"x".repeat(301)}`],
  });
  renderWithQueries(<DiffPreview request={request} onHidden={onHidden} />);
  expect(screen.getByText("⟨9 blanks⟩")).toBeVisible();
  expect(screen.queryByText("⟨20 blanks⟩")).toBeNull();
  expect(screen.getByText("301 characters in this line")).toBeVisible();
});

test("a command says where it runs; the server's folder is not the client's", () => {
  const { rerender } = renderWithQueries(<CommandPreview request={command("ls")} onHidden={() => {}} />);
  expect(screen.getByText("/w")).toBeVisible();
  rerender(<CommandPreview request={{ ...command("ls"), origin: "client" }} onHidden={() => {}} />);
  expect(screen.getByText("the project’s folder on the client")).toBeVisible();
  expect(screen.queryByText("/w")).toBeNull();
});
