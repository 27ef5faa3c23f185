// One question to the server and its latest answer; an answer that was overtaken is dropped.
import { useCallback, useEffect, useRef, useState } from "react";

import { messageOf } from "./store";

export interface Answer<T> {
  value: T | null;
  error: string | null;
  isAsking: boolean;
}

export function useAnswer<T>(): [Answer<T>, (question: () => Promise<T>) => void] {
  const [answer, setAnswer] = useState<Answer<T>>({ value: null, error: null, isAsking: false });
  const latest = useRef(0);
  useEffect(
    () => () => {
      latest.current = -1;
    },
    [],
  );
  const ask = useCallback((question: () => Promise<T>) => {
    const turn = ++latest.current;
    const apply = (next: Answer<T>) => latest.current === turn && setAnswer(next);
    setAnswer(({ value }) => ({ value, error: null, isAsking: true }));
    question().then(
      (value) => apply({ value, error: null, isAsking: false }),
      (error: unknown) => apply({ value: null, error: messageOf(error), isAsking: false }),
    );
  }, []);
  return [answer, ask];
}
