// Lays syntax colour and change marks over one line of text.

export interface Token {
  text: string;
  className: string;
}

export interface Span extends Token {
  start: number;
  isMarked: boolean;
}

/** Cuts the tokens at the borders of the mark. The texts, joined, are the line. */
export function paintLine(text: string, tokens: readonly Token[] | null, mark: readonly [number, number] | null): Span[] {
  const spans: Span[] = [];
  let at = 0;
  // A grammar that lost a character must not make us show less than what will be written.
  const isWhole = tokens?.map((token) => token.text).join("") === text;
  for (const token of tokens && isWhole ? tokens : [{ text, className: "" }]) {
    for (const [from, to] of cuts(at, at + token.text.length, mark)) {
      const isMarked = mark !== null && from >= mark[0] && to <= mark[1];
      spans.push({ start: from, text: text.slice(from, to), className: token.className, isMarked });
    }
    at += token.text.length;
  }
  return spans;
}

function cuts(start: number, end: number, mark: readonly [number, number] | null): [number, number][] {
  const inner = (mark ?? []).filter((border) => border > start && border < end);
  const borders = [start, ...inner, end];
  return borders.slice(1).map((border, i): [number, number] => [borders[i] ?? start, border]);
}
