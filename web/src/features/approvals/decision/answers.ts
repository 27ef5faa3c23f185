// What a person is about to answer, question by question, and the answer as it is sent. Pure.
import type { Question } from "../../../api/asking";

/** One question's answer in the making. */
export interface Answering {
  picked: string[];
  /** Whether the person's own words are (part of) the answer. */
  isOther: boolean;
  other: string;
}

export const UNANSWERED: Answering = { picked: [], isOther: false, other: "" };

/** By question. */
export type Answers = Record<string, Answering>;

export function answeringOf(answers: Answers, { question }: Question): Answering {
  return answers[question] ?? UNANSWERED;
}

/** Picks an option, or takes it back where several may be picked. */
export function pick(answers: Answers, question: Question, label: string): Answers {
  const before = answeringOf(answers, question);
  if (!question.isMulti) return { ...answers, [question.question]: { ...before, picked: [label], isOther: false } };
  const isPicked = before.picked.includes(label);
  const picked = isPicked ? before.picked.filter((it) => it !== label) : [...before.picked, label];
  return { ...answers, [question.question]: { ...before, picked } };
}

/** Takes the person's own words as the answer, or no longer. */
export function pickOther(answers: Answers, question: Question, isOther: boolean): Answers {
  const before = answeringOf(answers, question);
  const picked = question.isMulti ? before.picked : [];
  return { ...answers, [question.question]: { ...before, picked, isOther } };
}

export function writeOther(answers: Answers, question: Question, other: string): Answers {
  const next = pickOther(answers, question, true);
  return { ...next, [question.question]: { ...answeringOf(next, question), other } };
}

/** The answer in words: the labels in the order of the options, own words last. Nothing while there is none. */
function answerTo(question: Question, { picked, isOther, other }: Answering): string | null {
  const labels = question.options.map(({ label }) => label).filter((label) => picked.includes(label));
  const own = other.trim();
  if (isOther && own === "") return null;
  const words = isOther ? [...labels, own] : labels;
  return words.length === 0 ? null : words.join(", ");
}

/** All of the answers; nothing until every question has one. */
export function answered(questions: readonly Question[], answers: Answers): Record<string, string> | null {
  const all = questions.map((question) => [question.question, answerTo(question, answeringOf(answers, question))] as const);
  return all.every((pair): pair is readonly [string, string] => pair[1] !== null) ? Object.fromEntries(all) : null;
}

/** How many questions are still open. */
export function openQuestions(questions: readonly Question[], answers: Answers): number {
  return questions.filter((question) => answerTo(question, answeringOf(answers, question)) === null).length;
}
