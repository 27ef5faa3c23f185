import { expect, test } from "vitest";

import type { SocketEvent } from "../../../api/socket";
import { approvalRequest, resolvedMessage, resumedMessage } from "../../../testing/messages";
import { batchOpened, batchSent, coveredByApproveAll } from "./batch-state";
import { shownEntries } from "./queue-order";
import { decisionSent, emptyQueue, isAnswerToEdit, moveCurrent, placedAt, reduceQueue } from "./queue-state";
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

const OTHER = { workspace: { project_id: "p2", name: "docs", root: "/docs" } };

test("approve all means one conversation of one workspace, without high risk", () => {
  const elsewhere = ask("e", OTHER);
  const queue = after([ask("a"), ask("b", { risk_level: "HIGH" }), ask("c", { session_id: "s2" }), ask("d"), elsewhere]);
  expect(coveredByApproveAll(queue, "p1 s1").map(({ request }) => request.request_id)).toEqual(["a", "d"]);
  expect(coveredByApproveAll(queue, "p2 s1").map(({ request }) => request.request_id)).toEqual(["e"]);
});

test("approve all is what waited when its list was opened: nothing that comes later, and nothing as it moved since", () => {
  const opened = batchOpened(after([ask("a"), ask("b"), ask("h", { risk_level: "HIGH" })]), "p1 s1");
  const later = after([ask("c"), ask("b", { digest: "moved" })], opened);
  expect(later.batch?.requests.map(({ request_id: id, digest }) => [id, digest])).toEqual([["a", "d1"], ["b", "d1"]]);
  expect(later.batch?.leftOut).toBe(1);
  expect(batchSent(later).entries.map(({ request, sending }) => [request.request_id, sending])).toEqual([
    ["a", "approve"],
    ["b", "approve"],
    ["h", null],
    ["c", null],
  ]);
});

test("each that approve all could not settle says why, and can be decided again", () => {
  const sent = batchSent(batchOpened(after([ask("a"), ask("b")]), "p1 s1"));
  const answers = [
    { request_id: "a", outcome: "approved" as const },
    { request_id: "b", outcome: "refused" as const, code: "digest_mismatch", message: "it moved" },
  ];
  const answered = after([{ type: "approve_all_answered", content: { answers } }], sent);
  expect(answered.batch?.answers).toEqual(answers);
  expect(answered.entries.map(({ sending, error }) => [sending, error])).toEqual([["approve", null], [null, "it moved"]]);
  const [approved] = answers;
  expect(after([{ type: "approve_all_answered", content: { answers: [approved as (typeof answers)[0]] } }], sent).batch).toBeNull();
});

test("the open conversation comes first, then its workspace, then the others", () => {
  const events = [ask("x", OTHER), ask("b", { session_id: "s2" }), ask("y", { ...OTHER, session_id: "s9" }), ask("a"), ask("c", { session_id: "s2" })];
  const queue = placedAt(after(events), { projectId: "p1", sessionId: "s1" });
  expect(draw(queue)).toBe("[a] b c x y");
  expect(draw(placedAt(queue, { projectId: "p2", sessionId: "s9" }))).toBe("[y] x b c a");
});

test("a request of the open conversation takes the place of another's, unless the person has a hand on that", () => {
  const start = { ...emptyQueue, isLive: true, place: { projectId: "p1", sessionId: "s1" } };
  const other = ask("x", OTHER);
  expect(draw(after([other, ask("a")], start))).toBe("[a] x");
  expect(draw(after([other, ask("a")], { ...start, isHeld: true }))).toBe("a [x]");
  expect(draw(after([ask("a")], { ...after([other], start), drafts: { x: "not so" } }))).toBe("a [x]");
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
