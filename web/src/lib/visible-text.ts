// Makes visible what a terminal or an interpreter would see and a person would not:
// control, bidirectional, zero-width and odd blank characters, and words of mixed alphabets.
// Never changes what will run; only how it is drawn.

export type Segment =
  | { kind: "text"; text: string }
  /** Stands in place of `text`, which the eye would miss. */
  | { kind: "chip"; text: string; label: string; name: string }
  /** A word that mixes alphabets, so that one letter may pose as another. */
  | { kind: "mixed"; text: string };

export interface VisibleOptions {
  /** Runs of more blanks than this become a counted chip: blanks push text out of sight. */
  blanks?: number;
  /** Whether blanks at the start of a line are indentation, which is counted only when there is far too much of it. */
  indent?: boolean;
  /** Whether three and more empty lines become a counted chip. */
  emptyLines?: boolean;
}

/** More blanks than this in a row are not typing but hiding. */
export const BLANKS = 8;
/** From here on a line is flagged: what matters may be far out on the right. */
export const LONG_LINE = 300;
/** No code is indented this far. */
const DEEP = 80;

const PLAIN = /^[\x20-\x7e\n\t]*$/;

// Joiner and selector are left alone inside an emoji, where they are what makes it one picture.
const HIDDEN =
  /(?<!\p{Extended_Pictographic}\ufe0f?)\u200d|(?<!\p{Extended_Pictographic})\ufe0f|(?!\u200d|\ufe0f|[\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;

const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
const LATIN = /\p{Script=Latin}/u;
const LOOKALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;

const NAMES: Record<number, string> = {
  0x00: "null",
  0x07: "bell",
  0x08: "backspace",
  0x0d: "carriage return",
  0x1b: "escape: starts a terminal sequence",
  0x7f: "delete",
  0x9b: "control sequence introducer",
  0xa0: "no-break space",
  0xad: "soft hyphen",
  0x200b: "zero-width space",
  0x200c: "zero-width non-joiner",
  0x200d: "zero-width joiner",
  0x200e: "left-to-right mark",
  0x200f: "right-to-left mark",
  0x2028: "line separator",
  0x2029: "paragraph separator",
  0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding",
  0x202c: "pop directional formatting",
  0x202d: "left-to-right override",
  0x202e: "right-to-left override",
  0x2060: "word joiner",
  0x2066: "left-to-right isolate",
  0x2067: "right-to-left isolate",
  0x2068: "first strong isolate",
  0x2069: "pop directional isolate",
  0xfeff: "byte order mark",
};

/** Cuts a text into what can be shown as it is and what needs a mark. Joined, the texts are the input. */
export function visibleSegments(text: string, options: VisibleOptions = {}): Segment[] {
  const pattern = patternFor(options);
  if (PLAIN.test(text) && pattern === null) return [{ kind: "text", text }];
  const segments: Segment[] = [];
  let rest = 0;
  for (const match of text.matchAll(pattern ?? globalHidden)) {
    pushText(segments, text.slice(rest, match.index));
    segments.push(chipFor(match[0]));
    rest = match.index + match[0].length;
  }
  pushText(segments, text.slice(rest));
  return segments.length > 0 ? segments : [{ kind: "text", text }];
}

const globalHidden = new RegExp(HIDDEN.source, "gu");

function patternFor({ blanks, indent, emptyLines }: VisibleOptions): RegExp | null {
  const parts = [HIDDEN.source];
  if (emptyLines) parts.push("\\n(?:[ \\t]*\\n){3,}");
  if (blanks !== undefined) parts.push(blankRun(blanks, indent ?? false));
  return parts.length === 1 ? null : new RegExp(parts.join("|"), "gu");
}

function blankRun(blanks: number, indent: boolean): string {
  const run = `[ \\t]{${blanks + 1},}`;
  return indent ? `(?<=[^ \\t\\n])${run}|[ \\t]{${DEEP + 1},}` : run;
}

/** The lines that are too long to be taken in, by number and length. */
export function longLines(text: string): { line: number; length: number }[] {
  if (text.length <= LONG_LINE) return [];
  return text.split("\n").flatMap(({ length }, index) => (length > LONG_LINE ? [{ line: index + 1, length }] : []));
}

function chipFor(text: string): Segment {
  if (text.startsWith("\n")) {
    const lines = text.split("\n").length - 2;
    return { kind: "chip", text, label: `${lines} empty lines`, name: "empty lines" };
  }
  if (/^[ \t]{2,}$/.test(text)) {
    return { kind: "chip", text, label: `${text.length} blanks`, name: "a long run of blanks" };
  }
  const point = text.codePointAt(0) ?? 0;
  const label = `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
  return { kind: "chip", text, label, name: NAMES[point] ?? "invisible character" };
}

function pushText(segments: Segment[], text: string) {
  if (text === "") return;
  if (PLAIN.test(text)) {
    segments.push({ kind: "text", text });
    return;
  }
  let rest = 0;
  for (const match of text.matchAll(WORD)) {
    if (!isMixedScript(match[0])) continue;
    if (match.index > rest) segments.push({ kind: "text", text: text.slice(rest, match.index) });
    segments.push({ kind: "mixed", text: match[0] });
    rest = match.index + match[0].length;
  }
  if (rest < text.length) segments.push({ kind: "text", text: text.slice(rest) });
}

function isMixedScript(word: string): boolean {
  return LATIN.test(word) && LOOKALIKE.test(word);
}
