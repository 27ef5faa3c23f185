/** The beginning of a text: at most so many lines and characters. */
export function cap(text: string, lines: number, characters: number): string {
  let end = -1;
  for (let line = 0; line < lines; line++) {
    end = text.indexOf("\n", end + 1);
    if (end === -1) break;
  }
  return text.slice(0, Math.min(end === -1 ? text.length : end, characters));
}
