import { expect, test } from "vitest";

import type { Question } from "../../../api/asking";
import { answered, openQuestions, pick, pickOther, writeOther } from "./answers";

const options = ["Red", "Green", "Blue"].map((label) => ({ label, description: "", preview: null }));
const one: Question = { question: "Which?", header: "", isMulti: false, options };
const many: Question = { question: "Which ones?", header: "", isMulti: true, options };

test("of one question one option is the answer, the last that was picked", () => {
  expect(answered([one], {})).toBeNull();
  expect(answered([one], pick(pick({}, one, "Red"), one, "Blue"))).toEqual({ "Which?": "Blue" });
});

test("where several may be picked they are told in the order of the options, and can be taken back", () => {
  const three = pick(pick(pick({}, many, "Blue"), many, "Red"), many, "Green");
  expect(answered([many], three)).toEqual({ "Which ones?": "Red, Green, Blue" });
  expect(answered([many], pick(three, many, "Green"))).toEqual({ "Which ones?": "Red, Blue" });
});

test("one's own words are an answer once there are any", () => {
  expect(answered([one], pickOther(pick({}, one, "Red"), one, true))).toBeNull();
  expect(answered([one], writeOther({}, one, " teal "))).toEqual({ "Which?": "teal" });
  expect(answered([many], writeOther(pick({}, many, "Red"), many, "teal"))).toEqual({ "Which ones?": "Red, teal" });
  expect(answered([one], pick(writeOther({}, one, "teal"), one, "Red"))).toEqual({ "Which?": "Red" });
});

test("nothing is sent while a question is open", () => {
  const half = pick({}, one, "Red");
  expect(answered([one, many], half)).toBeNull();
  expect(openQuestions([one, many], half)).toBe(1);
  expect(answered([one, many], pick(half, many, "Blue"))).toEqual({ "Which?": "Red", "Which ones?": "Blue" });
});
