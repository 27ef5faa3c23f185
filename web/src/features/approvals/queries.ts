// The lines that were left out of a long diff: fetched page by page, when a person asks for them.
import { useInfiniteQuery } from "@tanstack/react-query";
import type { InfiniteData } from "@tanstack/react-query";
import { useId } from "react";

import { Refused, describeError } from "../../api/client";
import { fetchDiff } from "../../api/diffs";
import type { DiffPage } from "../../api/diffs";
import type { Previewed } from "../../api/message";
import { queryKeys } from "../../api/query-keys";

/** How many lines are fetched and drawn at once. */
export const DIFF_PAGE_LINES = 1000;

export interface LeftOutSource {
  request: Pick<Previewed, "request_id" | "workspace">;
  /** Which file of the request; none if the server does not say. */
  file: number | null;
  /** Where the lines begin, how many they are, and how many lines the whole diff has. */
  from: number;
  omitted: number;
  total: number;
}

export interface LeftOutLines {
  /** Those that have come, without a gap. */
  lines: readonly string[];
  isLoading: boolean;
  error: string | null;
  loadMore: () => void;
}

const NO_LINES: readonly string[] = [];

export function useLeftOutLines(source: LeftOutSource): LeftOutLines {
  const { request, file, omitted } = source;
  // A request whose files have moved keeps its id: lines belong to the drawing that they were fetched for, and go with it.
  const drawing = useId();
  const { data, error, isFetching, fetchNextPage } = useInfiniteQuery({
    queryKey: queryKeys.leftOutLines(drawing, request.request_id, file),
    queryFn: ({ pageParam: loaded }) => fetchCheckedPage(source, loaded),
    initialPageParam: 0,
    getNextPageParam: (_, pages) => {
      const loaded = joinLines(pages).length;
      return loaded < omitted ? loaded : null;
    },
    select: selectLines,
    enabled: false,
    gcTime: 0,
  });
  const lines = data ?? NO_LINES;
  return {
    lines,
    isLoading: isFetching,
    error: error === null || isFetching ? null : describeFailure(error),
    loadMore: () => {
      if (file !== null && lines.length < omitted) void fetchNextPage({ cancelRefetch: false });
    },
  };
}

/** A page that is part of another diff, or not what was asked for, must not be joined to this one. */
async function fetchCheckedPage({ request, file, from, omitted, total }: LeftOutSource, loaded: number): Promise<DiffPage> {
  const limit = Math.min(DIFF_PAGE_LINES, omitted - loaded);
  const page = await fetchDiff(request, file ?? 0, from + loaded, limit);
  if (page.total !== total) throw new Error("the diff is not the one that you were asked about");
  if (page.lines.length === 0 || page.lines.length > limit) throw new Error("the server sent other lines than were asked for");
  return page;
}

/** Outside of the hook, so that it runs once per page and not once per drawing. */
function selectLines({ pages }: InfiniteData<DiffPage>): readonly string[] {
  return joinLines(pages);
}

function joinLines(pages: readonly DiffPage[]): readonly string[] {
  return pages.flatMap(({ lines }) => lines);
}

function describeFailure(error: Error): string {
  return error instanceof Refused && error.status === 404 ? "the server has not kept them" : describeError(error);
}
