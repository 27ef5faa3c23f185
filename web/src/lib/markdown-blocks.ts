// Cuts a growing Markdown text into blocks, so that while it streams only the last one is parsed again.

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** Splits at empty lines outside code fences. Earlier blocks never change when text is appended. */
export function markdownBlocks(text: string): string[] {
  const blocks: string[] = [];
  let block: string[] = [];
  let fence: string | null = null;
  for (const line of text.split("\n")) {
    const mark = FENCE.exec(line)?.[1];
    if (mark && fence === null) fence = mark;
    else if (mark && fence !== null && mark.startsWith(fence)) fence = null;
    if (line.trim() === "" && fence === null) {
      if (block.length > 0) blocks.push(block.join("\n"));
      block = [];
    } else block.push(line);
  }
  if (block.length > 0) blocks.push(block.join("\n"));
  return blocks;
}
