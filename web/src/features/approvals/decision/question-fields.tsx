// What the agent wants to know, to be answered: its options, and always one's own words.
import { useId, useRef } from "react";
import type { KeyboardEvent } from "react";

import type { Option, Question } from "../../../api/asking";
import { BLANKS } from "../../../lib/visible-text";
import { CappedText } from "../../../ui/capped-text";
import { Visible } from "../../../ui/visible";
import { answeringOf, pick, pickOther, writeOther } from "./answers";
import type { Answers } from "./answers";
import styles from "./question-fields.module.css";

interface QuestionFieldsProps {
  questions: readonly Question[];
  answers: Answers;
  onChange: (answers: Answers) => void;
  /** Ctrl+Enter, from wherever one is. */
  onSend: () => void;
}

export function QuestionFields({ questions, answers, onChange, onSend }: QuestionFieldsProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onSend();
  };
  return (
    <div className={styles.questions} onKeyDown={onKeyDown} role="presentation">
      {questions.map((question) => (
        <QuestionField key={question.question} question={question} answers={answers} onChange={onChange} />
      ))}
    </div>
  );
}

type QuestionFieldProps = Pick<QuestionFieldsProps, "answers" | "onChange"> & { question: Question };

function QuestionField({ question, answers, onChange }: QuestionFieldProps) {
  const group = useId();
  const { picked } = answeringOf(answers, question);
  return (
    <fieldset className={styles.question}>
      <legend>
        {question.header !== "" && (
          <span className={styles.header}>
            <Visible text={question.header} blanks={BLANKS} />
          </span>
        )}{" "}
        <span className={styles.text}>
          <Visible text={question.question} blanks={BLANKS} emptyLines />
        </span>
        {question.isMulti && <span className={styles.hint}> Choose any number.</span>}
      </legend>
      {question.options.map((option) => (
        <Choice
          key={option.label}
          group={group}
          option={option}
          isMulti={question.isMulti}
          isPicked={picked.includes(option.label)}
          onPick={() => onChange(pick(answers, question, option.label))}
        />
      ))}
      <Other group={group} question={question} answers={answers} onChange={onChange} />
    </fieldset>
  );
}

interface ChoiceProps {
  group: string;
  option: Option;
  isMulti: boolean;
  isPicked: boolean;
  onPick: () => void;
}

function Choice({ group, option, isMulti, isPicked, onPick }: ChoiceProps) {
  const id = useId();
  return (
    <div className={styles.choice} data-picked={isPicked}>
      <input
        id={id}
        type={isMulti ? "checkbox" : "radio"}
        name={group}
        checked={isPicked}
        onChange={onPick}
        aria-describedby={option.description === "" ? undefined : `${id}-about`}
      />
      <label htmlFor={id}>
        <span className={styles.label}>
          <Visible text={option.label} blanks={BLANKS} />
        </span>
        {option.description !== "" && (
          <span id={`${id}-about`} className={styles.about} aria-hidden="true">
            <Visible text={option.description} blanks={BLANKS} />
          </span>
        )}
      </label>
      {option.preview !== null && (
        <div className={styles.preview}>
          <CappedText label={`Preview of ${option.label}`} text={option.preview} lines={16} isSuspect />
        </div>
      )}
    </div>
  );
}

/** One's own words; writing them is choosing them. */
function Other({ group, question, answers, onChange }: QuestionFieldProps & { group: string }) {
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const { isOther, other } = answeringOf(answers, question);
  const onPick = (isPicked: boolean) => {
    onChange(pickOther(answers, question, isPicked));
    if (isPicked) field.current?.focus();
  };
  return (
    <div className={styles.choice} data-picked={isOther}>
      <input
        id={id}
        type={question.isMulti ? "checkbox" : "radio"}
        name={group}
        checked={isOther}
        onChange={(event) => onPick(event.target.checked)}
      />
      <label htmlFor={id}>
        <span className={styles.label}>Other</span>
      </label>
      <textarea
        ref={field}
        rows={1}
        value={other}
        placeholder="In your own words"
        aria-label={`Other answer to: ${question.question}`}
        onChange={(event) => onChange(writeOther(answers, question, event.target.value))}
      />
    </div>
  );
}
