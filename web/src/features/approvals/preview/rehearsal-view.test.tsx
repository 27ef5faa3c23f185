import { screen } from "@testing-library/react";
import { describe, expect, test } from "vitest";

import type { Rehearsal } from "../../../api/message";
import { renderWithQueries } from "../../../testing/queries";
import { RehearsalView } from "./rehearsal-view";

type Done = Extract<Rehearsal, { state: "done" }>;

const DONE: Done = {
  state: "done",
  exit_code: 0,
  timed_out: false,
  output: "(no output)",
  files: [
    {
      file_path: "a.txt",
      is_new_file: false,
      original_lines: 1,
      new_lines: 1,
      index: 0,
      diff_lines: ["--- a/a.txt", "+++ b/a.txt", "@@ -1 +1 @@", "-one", "+two"],
    },
  ],
  diff_stat: { added: 1, removed: 1, omitted: 0 },
  more_files: 0,
  folders: ["new folder `b`"],
  took_ms: 1234,
  keeps: true,
};

function show(rehearsal: Rehearsal) {
  renderWithQueries(<RehearsalView rehearsal={rehearsal} request={{ request_id: "q1", workspace: { project_id: "p2", name: "docs", root: "/docs" } }} onHidden={() => {}} />);
}

describe("a rehearsal", () => {
  test("under way says that nobody need wait for it", () => {
    show({ state: "running" });
    expect(screen.getByRole("region", { name: "Rehearsal" })).toHaveAttribute("aria-busy", "true");
    expect(screen.getByText(/You need not wait/)).toBeVisible();
  });

  test("that is over shows what it did, and what a yes does, first", () => {
    show(DONE);
    expect(screen.getByText("A yes keeps exactly this result; the command is not run again.")).toBeVisible();
    expect(screen.getByText("exit code 0")).toBeVisible();
    expect(screen.getByText("1 file changed")).toBeVisible();
    expect(screen.getByText("two")).toBeVisible();
    expect(screen.getByText("b")).toBeVisible();
  });

  test("that cannot be kept says why", () => {
    show({ ...DONE, exit_code: null, timed_out: true, keeps: false, runs_again: "it had not ended after 30s" });
    expect(screen.getByText("A yes runs the command for real, because it had not ended after 30s")).toBeVisible();
    expect(screen.getByText("did not end")).toBeVisible();
  });

  test("that changed nothing says so", () => {
    show({ ...DONE, files: [], folders: [], diff_stat: { added: 0, removed: 0, omitted: 0 } });
    expect(screen.getByText(/It changed nothing/)).toBeVisible();
    expect(screen.getByText("no file changed")).toBeVisible();
  });

  test("that is not there says why, in a sentence", () => {
    show({ state: "impossible", reason: "it reaches the network" });
    expect(screen.getByText(/It reaches the network\./)).toBeVisible();
  });
});
