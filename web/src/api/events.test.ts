import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { approvalRequest, delta, resolvedMessage, runMessages, stateMessage } from "../testing/messages";
import { createCacheUpdater, stalePartsAfter } from "./events";
import type { Project } from "./projects";
import type { SocketEvent } from "./socket";

let stale: unknown[];
let receive: (events: readonly SocketEvent[]) => void;

beforeEach(() => {
  vi.useFakeTimers();
  stale = [];
  const client = new QueryClient();
  vi.spyOn(client, "invalidateQueries").mockImplementation((filters) => {
    stale.push(filters?.queryKey?.[0]);
    return Promise.resolve();
  });
  receive = createCacheUpdater(client);
});

afterEach(() => vi.useRealTimers());

const LIVE: SocketEvent = { type: "link", link: "live" };

test("a replay makes nothing stale; what is live after it makes everything stale, once", () => {
  receive([{ type: "link", link: "catching-up" }, ...runMessages()]);
  vi.runAllTimers();
  expect(stale).toEqual([]);
  receive([LIVE]);
  vi.runAllTimers();
  expect(stale.toSorted()).toEqual(["executions", "projects", "rules", "sessions"]);
});

test("a burst of messages is one reason to ask again", () => {
  receive([LIVE]);
  vi.runAllTimers();
  stale = [];
  receive([stateMessage(7, "executing")]);
  receive([stateMessage(8, "completed"), delta("a")]);
  vi.runAllTimers();
  expect(stale).toEqual(["executions"]);
  receive([stateMessage(9, "completed")]);
  vi.runAllTimers();
  expect(stale).toEqual(["executions", "executions"]);
});

test("a decision may add a rule, and a request may come from a workspace that is new", () => {
  const known = [{ project_id: "p1" }] as Project[];
  expect(stalePartsAfter(resolvedMessage("APPROVED"), known)).toContain("rules");
  expect(stalePartsAfter(approvalRequest(), known)).not.toContain("projects");
  expect(stalePartsAfter(approvalRequest(), [])).toContain("projects");
  expect(stalePartsAfter(delta("a"), known)).toEqual([]);
});
