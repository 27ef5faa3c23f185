// The lines of a diff: those that came with the request, and those that were left out, page by page.
import { useMemo } from "react";

import type { Previewed } from "../../../api/message";
import { useLeftOutLines } from "../queries";
import { parseDiff } from "./diff";
import type { DiffLine } from "./diff";

/** How the server cuts: so many lines of the start and of the end go with the request. */
const HEAD = 1000;
const TAIL = 200;

export interface DiffSource {
  request: Pick<Previewed, "request_id" | "workspace">;
  /** Which file of the request; none if the server does not say. */
  file: number | null;
  lines: readonly string[];
  /** How many lines the server left out. */
  omitted: number;
}

export interface ShownDiff {
  /** Up to what is missing; everything once nothing is. */
  before: readonly DiffLine[];
  after: readonly DiffLine[];
  /** How many lines are still missing. */
  missing: number;
  /** The way to what is missing; none if nothing was left out, or nobody can say where. */
  rest: Rest | null;
}

export interface Rest {
  /** How many lines the whole diff has. */
  total: number;
  isBegun: boolean;
  isLoading: boolean;
  error: string | null;
  load: () => void;
}

interface Cut {
  head: readonly string[];
  /** Stands in for the head of a hunk that is left out; without a gap it would only be in the way. */
  seam: readonly string[];
  tail: readonly string[];
}

export function useDiff({ request, file, lines, omitted }: DiffSource): ShownDiff {
  const total = HEAD + omitted + TAIL;
  const { lines: loaded, isLoading, error, loadMore } = useLeftOutLines({ request, file, from: HEAD, omitted, total });
  const cut = useMemo(() => (omitted > 0 ? cutOf(lines) : null), [lines, omitted]);
  const missing = omitted - loaded.length;
  const shown = useMemo(() => (cut ? joined(cut, loaded, missing) : { before: read(lines), after: [] }), [cut, lines, loaded, missing]);
  if (!cut || file === null) return { ...shown, missing, rest: null };
  return { ...shown, missing, rest: { total, isBegun: loaded.length > 0, isLoading, error, load: loadMore } };
}

/** Takes a diff apart where its middle is missing; `null` if it is not cut as we know it. */
function cutOf(lines: readonly string[]): Cut | null {
  const seam = lines.length - HEAD - TAIL;
  const isKnown = seam === 0 || (seam === 1 && lines[HEAD]?.startsWith("@@ "));
  if (!isKnown) return null;
  return { head: lines.slice(0, HEAD), seam: lines.slice(HEAD, HEAD + seam), tail: lines.slice(HEAD + seam) };
}

function joined({ head, seam, tail }: Cut, loaded: readonly string[], missing: number): Pick<ShownDiff, "before" | "after"> {
  if (missing === 0) return { before: read([...head, ...loaded, ...tail]), after: [] };
  return { before: read([...head, ...loaded]), after: parseDiff([...seam, ...tail]) };
}

function read(lines: readonly string[]): DiffLine[] {
  return withoutOnlyFile(parseDiff(lines));
}

/** In a diff of one file its name stands above already. */
function withoutOnlyFile(lines: DiffLine[]): DiffLine[] {
  const files = lines.filter((line) => line.kind === "file").length;
  return files > 1 ? lines : lines.filter((line) => line.kind !== "file");
}
