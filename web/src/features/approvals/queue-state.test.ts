import { expect, test } from "vitest";

import type { SocketEvent } from "../../api/socket";
import { approvalRequest, resolvedMessage, resumedMessage } from "../../testing/messages";
import { approveAllSent, coveredByApproveAll, decisionSent, emptyQueue, isAnswerToEdit, moveCurrent, reduceQueue, shownEntries } from "./queue-state";
import type { Queue } from "./queue-state";

const live: SocketEvent = { type: "link", link: "live" };
const lost: SocketEvent = { type: "link", link: "reconnecting" };

function after(events: SocketEvent[], start: Queue = { ...emptyQueue, isLive: true }): Queue {
  return reduceQueue(start, events, Date.parse("2026-05-04T11:59:00Z"));
}

function ask(id: string, change = {}): SocketEvent {
  return approvalRequest({ request_id: id, tool_use_id: `t-${id}`, ...change });
}

/** The ids on screen, the current one in brackets. */
function draw(queue: Queue): string {
  const name = (id: string) => (id === queue.currentId ? `[${id}]` : id);
  return shownEntries(queue).map(({ request }) => name(request.request_id)).join(" ");
}

test("requests queue up and the first stays in view", () => {
  expect(draw(after([ask("a"), ask("b"), ask("c")]))).toBe("[a] b c");
});

test("the same request again changes nothing", () => {
  expect(draw(after([ask("a"), ask("b"), ask("a")]))).toBe("[a] b");
});

test("next and previous go around", () => {
  const queue = after([ask("a"), ask("b"), ask("c")]);
  expect(draw(moveCurrent(queue, -1))).toBe("a b [c]");
  expect(draw(moveCurrent(moveCurrent(queue, 1), 1))).toBe("a b [c]");
});

test("a decided request makes room for the one after it", () => {
  const queue = moveCurrent(after([ask("a"), ask("b"), ask("c")]), 1);
  expect(draw(after([resolvedMessage("APPROVED", "b")], queue))).toBe("a [c]");
  expect(draw(after([resolvedMessage("APPROVED", "b"), resolvedMessage("APPROVED", "c")], queue))).toBe("[a]");
});

test("our own decision is not announced to us, another's is", () => {
  const queue = after([ask("a")]);
  expect(after([resolvedMessage("APPROVED", "a")], decisionSent(queue, "a", "approve")).notices).toEqual([]);
  expect(after([resolvedMessage("APPROVED", "a")], queue).notices[0]?.text).toBe("Write: Approved by Ana");
  expect(after([resolvedMessage("REJECTED", "a")], decisionSent(queue, "a", "approve")).notices[0]?.text).toBe("Write: Rejected by Ana");
  expect(after([resolvedMessage("TIMEOUT", "a", null)], queue).notices[0]?.text).toBe("Write: Expired");
});

test("a settled request does not come back with a replay", () => {
  expect(draw(after([ask("a"), resolvedMessage("APPROVED", "a"), ask("a")]))).toBe("");
});

test("during a replay nothing pops up; what still waits appears at its end", () => {
  const replay = [resumedMessage({ head: 9 }), ask("a"), resolvedMessage("APPROVED", "a"), ask("b")];
  const queue = after(replay, emptyQueue);
  expect(draw(queue)).toBe("");
  const done = after([live], queue);
  expect(draw(done)).toBe("[b]");
  expect(done.notices).toEqual([]);
});

test("after a reconnect only what the server sent again still waits", () => {
  const queue = after([ask("a"), ask("b"), lost]);
  expect(queue.isLive).toBe(false);
  const back = after([resumedMessage(), ask("b"), live], queue);
  expect(draw(back)).toBe("[b]");
  expect(back.notices).toHaveLength(1);
});

test("a lost connection frees a decision that was on its way", () => {
  const queue = decisionSent(after([ask("a")]), "a", "approve");
  expect(after([lost], queue).entries[0]?.sending).toBe(null);
});

test("a refusal frees the buttons and is shown with the request", () => {
  const queue = decisionSent(after([ask("a"), ask("b")]), "a", "approve");
  const refused = after([{ type: "error", content: { message: "the file changed", code: "drift" } }], queue);
  expect(refused.entries.map(({ sending, error }) => [sending, error])).toEqual([[null, "the file changed"], [null, null]]);
});

test("a refusal that names its request is about that one only", () => {
  const queue = decisionSent(decisionSent(after([ask("a"), ask("b")]), "a", "approve"), "b", "approve");
  const refused = after([{ type: "error", request_id: "b", content: { message: "the file changed", code: "drift" } }], queue);
  expect(refused.entries.map(({ sending, error }) => [sending, error])).toEqual([["approve", null], [null, "the file changed"]]);
});

test("approve all leaves high risk and other conversations alone", () => {
  const queue = after([ask("a"), ask("b", { risk_level: "HIGH" }), ask("c", { session_id: "s2" }), ask("d")]);
  expect(coveredByApproveAll(queue, "s1")).toBe(2);
  expect(approveAllSent(queue, "s1").entries.map(({ sending }) => sending)).toEqual(["approve", null, null, "approve"]);
});

test("the server's clock is learned on resume", () => {
  expect(after([resumedMessage()]).skew).toBe(60_000);
});

test("put aside, the queue stays aside until it was empty", () => {
  const aside = { ...after([ask("a")]), isMinimised: true };
  expect(after([ask("b")], aside).isMinimised).toBe(true);
  const emptied = after([resolvedMessage("APPROVED", "a")], aside);
  expect(after([ask("b")], emptied).isMinimised).toBe(false);
});

test("approve all does not mean what another program asks, whatever conversation it names", () => {
  const queue = after([ask("a"), ask("b", { origin: "api" }), ask("c", { origin: "client" })]);
  expect(coveredByApproveAll(queue, "s1")).toBe(2);
  expect(approveAllSent(queue, "s1").entries.map(({ sending }) => sending)).toEqual(["approve", null, "approve"]);
});

test("programs that call their calls alike are not taken for one another", () => {
  const own = { tool_use_id: "call_1", session_id: "one" };
  const queue = decisionSent(after([ask("a", own)]), "a", "approve", { edited: { input: {} } });
  const again = after([ask("b", own), ask("c", { ...own, session_id: "two" })], queue);
  expect(again.entries.slice(1).map(({ request }) => isAnswerToEdit(again, request))).toEqual([true, false]);
});

test("a rehearsal adds to the request on screen and leaves all else as it was", () => {
  const queue = decisionSent(after([ask("a"), ask("b")]), "a", "approve");
  const rehearsed: SocketEvent = { ...approvalRequest({ request_id: "a", digest: "d2" }), type: "tool_rehearsed" };
  const next = after([rehearsed], queue);
  expect(draw(next)).toBe("[a] b");
  expect(next.entries[0]).toMatchObject({ sending: "approve", look: queue.entries[0]?.look, request: { digest: "d2" } });
  const unknown: SocketEvent = { ...approvalRequest({ request_id: "c" }), type: "tool_rehearsed" };
  expect(draw(after([unknown], queue))).toBe("[a] b");
});
