import { expect, test } from "vitest";

import { editableOf, editedInput } from "./edit-input";

test("the telling field is edited, and the rest of the input goes along", () => {
  const bash = { command: "ls", timeout: 5 };
  expect(editableOf("Bash", bash)).toEqual({ label: "Command", text: "ls", isJson: false, hasMask: false });
  expect(editedInput("Bash", bash, "ls -l")).toEqual({ input: { command: "ls -l", timeout: 5 }, error: null });
  expect(editableOf("Write", { file_path: "a", content: "x" }).label).toBe("Content");
  expect(editableOf("write_file", { path: "a", content: "x" }).label).toBe("Content");
  expect(editedInput("Edit", { file_path: "a", old_string: "x", new_string: "y" }, "z").input).toEqual({
    file_path: "a",
    old_string: "x",
    new_string: "z",
  });
});

test("any other input is edited as JSON, and must be some", () => {
  expect(editableOf("WebFetch", { url: "https://a.example" })).toMatchObject({ isJson: true, text: '{\n  "url": "https://a.example"\n}' });
  expect(editedInput("WebFetch", {}, '{"url":"b"}')).toEqual({ input: { url: "b" }, error: null });
  expect(editedInput("WebFetch", {}, "{").error).toMatch(/not JSON/);
  // A known tool whose field is not what we think it is.
  expect(editableOf("Bash", { command: ["ls"] }).isJson).toBe(true);
  expect(editableOf("toString", {}).isJson).toBe(true);
});

test("a hidden secret is found wherever it stands", () => {
  expect(editableOf("Bash", { command: "curl -H 'x-api-key: ***'" }).hasMask).toBe(true);
  expect(editableOf("Bash", { command: "ls", env: { list: ["a", "***"] } }).hasMask).toBe(true);
  expect(editableOf("Bash", { command: "ls **" }).hasMask).toBe(false);
});
