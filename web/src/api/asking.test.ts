import { expect, test } from "vitest";

import { askedText, exchangesOf, isPersonal, planOf, questionsOf, withAnswers } from "./asking";

const INPUT = {
  questions: [
    {
      question: "Which colour?",
      header: "Colour",
      multiSelect: false,
      options: [{ label: "Red", description: "Warm" }, { label: "Blue", description: "Cold", preview: "~~~" }],
    },
    { question: "Which sizes?", header: "Size", multiSelect: true, options: [{ label: "S" }, { label: "L" }] },
  ],
};
const CALL = { tool_name: "AskUserQuestion", tool_input: INPUT as unknown };

test("questions are read with their options, whatever may be left out", () => {
  expect(questionsOf(CALL)).toEqual([
    {
      question: "Which colour?",
      header: "Colour",
      isMulti: false,
      options: [
        { label: "Red", description: "Warm", preview: null },
        { label: "Blue", description: "Cold", preview: "~~~" },
      ],
    },
    {
      question: "Which sizes?",
      header: "Size",
      isMulti: true,
      options: [
        { label: "S", description: "", preview: null },
        { label: "L", description: "", preview: null },
      ],
    },
  ]);
});

test("what is not as we know it is no question, and is shown as it is", () => {
  const [first] = INPUT.questions;
  const odd = [null, "text", {}, { questions: [] }, { questions: ["what?"] }, { questions: [{ question: "what?" }] }, { questions: [first, first] }, { questions: [{ question: "what?", options: [{ label: "a" }, { label: "a" }] }] }];
  for (const tool_input of odd) expect(isPersonal({ tool_name: "AskUserQuestion", tool_input })).toBe(false);
  expect(questionsOf({ tool_name: "Bash", tool_input: INPUT })).toBeNull();
});

test("an answered input keeps the questions, and tells both", () => {
  const tool_input = withAnswers(INPUT, { "Which colour?": "Red" });
  expect(tool_input).toEqual({ ...INPUT, answers: { "Which colour?": "Red" } });
  expect(exchangesOf({ ...CALL, tool_input })).toEqual([
    { question: "Which colour?", answer: "Red" },
    { question: "Which sizes?", answer: null },
  ]);
  expect(askedText({ ...CALL, tool_input })).toBe("Which colour? → Red · Which sizes?");
});

test("a plan is its text, and in one line its first", () => {
  const call = { tool_name: "ExitPlanMode", tool_input: { plan: "\n## Tidy up\n\n1. Sweep." } };
  expect(planOf(call)).toBe("\n## Tidy up\n\n1. Sweep.");
  expect(askedText(call)).toBe("Tidy up");
  expect(isPersonal({ tool_name: "ExitPlanMode", tool_input: {} })).toBe(false);
  expect(askedText({ tool_name: "Write", tool_input: { plan: "x" } })).toBeNull();
});
