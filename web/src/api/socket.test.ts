import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { approvalRequest, caughtUpMessage, resumedMessage, runMessages } from "../testing/messages";
import type { ServerMessage } from "./message";
import { createAgentSocket } from "./socket";
import type { AgentSocket, SocketEvent } from "./socket";

class FakeWebSocket extends EventTarget {
  static OPEN = 1;
  static all: FakeWebSocket[] = [];
  readyState = 0;
  sent: unknown[] = [];
  constructor(readonly url: string) {
    super();
    FakeWebSocket.all.push(this);
  }
  send(data: string) {
    this.sent.push(JSON.parse(data));
  }
  close() {
    this.readyState = 3;
  }
  accept() {
    this.readyState = 1;
    this.dispatchEvent(new Event("open"));
  }
  receive(...messages: ServerMessage[]) {
    for (const message of messages) this.receiveRaw(JSON.stringify(message));
  }
  receiveRaw(data: string) {
    this.dispatchEvent(new MessageEvent("message", { data }));
  }
  break(how: CloseEventInit = {}) {
    this.readyState = 3;
    this.dispatchEvent(new CloseEvent("close", how));
  }
}

let events: SocketEvent[];
let socket: AgentSocket;
let problems: string[];
let signedIn: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", FakeWebSocket);
  FakeWebSocket.all = [];
  events = [];
  problems = [];
  signedIn = true;
  socket = createAgentSocket({
    urlOf: () => "ws://test/",
    onEvent: (event) => events.push(event),
    onProblem: (problem) => problems.push(problem),
    isSignedIn: () => Promise.resolve(signedIn),
    random: () => 1,
  });
});

afterEach(() => {
  socket.close();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function latest(): FakeWebSocket {
  return FakeWebSocket.all.at(-1) as FakeWebSocket;
}

function links(): string[] {
  return events.flatMap((event) => (event.type === "link" ? [event.link] : []));
}

test("a conversation is followed from its start", () => {
  socket.open("s1", "default");
  latest().accept();
  expect(latest().sent).toEqual([{ command: "resume", after: 0, session_id: "s1" }]);
  latest().receive(resumedMessage({ head: 6 }), ...runMessages());
  expect(links()).toEqual(["connecting", "catching-up"]);
  latest().receive(caughtUpMessage(6));
  expect(links()).toEqual(["connecting", "catching-up", "live"]);
});

test("after a break it resumes behind the last number it saw", () => {
  socket.open("s1", "default");
  latest().accept();
  latest().receive(resumedMessage({ head: 3 }), ...runMessages().slice(0, 3));
  latest().break();
  expect(links().at(-1)).toBe("reconnecting");
  vi.advanceTimersByTime(400);
  latest().accept();
  expect(latest().sent).toEqual([{ command: "resume", after: 3, session_id: "s1" }]);
});

test("a server that cannot read its log is come back to until it can", async () => {
  socket.open("s1", "default");
  latest().accept();
  latest().receive(resumedMessage({ head: 3 }), ...runMessages().slice(0, 3), caughtUpMessage(3));
  latest().break({ code: 1001, reason: "the log cannot be read at this moment; come back and resume" });
  // As long as the database is away the handshake is refused, too. That is no reason to sign in again.
  for (const delay of [400, 800, 1600]) {
    await vi.advanceTimersByTimeAsync(delay);
    latest().break();
    expect(links().at(-1)).toBe("reconnecting");
  }
  await vi.advanceTimersByTimeAsync(3200);
  latest().accept();
  expect(latest().sent).toEqual([{ command: "resume", after: 3, session_id: "s1" }]);
  latest().receive(resumedMessage({ head: 3 }), caughtUpMessage(3));
  expect(links().at(-1)).toBe("live");
});

test("a request that came ahead of the replay does not move the place to resume at", () => {
  socket.open("s1", "default");
  latest().accept();
  latest().receive(approvalRequest({ seq: 90 }), resumedMessage({ head: 90 }), ...runMessages().slice(0, 2));
  latest().break();
  vi.advanceTimersByTime(400);
  latest().accept();
  expect(latest().sent).toEqual([{ command: "resume", after: 2, session_id: "s1" }]);
});

test("it waits longer after each failure, up to a limit, and starts over after success", async () => {
  socket.open("s1", "default");
  for (const delay of [400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000]) {
    const before = FakeWebSocket.all.length;
    latest().break();
    await vi.advanceTimersByTimeAsync(delay - 1);
    expect(FakeWebSocket.all).toHaveLength(before);
    await vi.advanceTimersByTimeAsync(1);
    expect(FakeWebSocket.all).toHaveLength(before + 1);
  }
  latest().accept();
  latest().receive(resumedMessage());
  latest().break();
  await vi.advanceTimersByTimeAsync(400);
  expect(links().at(-1)).toBe("reconnecting");
  latest().accept();
  expect(latest().sent).toHaveLength(1);
});

test("a refused connection without a good cookie means: sign in, and no more attempts", async () => {
  signedIn = false;
  socket.open("s1", "default");
  latest().break();
  await vi.advanceTimersByTimeAsync(0);
  expect(links().at(-1)).toBe("unauthorized");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(FakeWebSocket.all).toHaveLength(1);
});

test("commands leave only while the connection is live", () => {
  socket.open("s1", "default");
  expect(socket.send({ command: "cancel" })).toBe(false);
  latest().accept();
  latest().receive(resumedMessage());
  expect(socket.send({ command: "cancel" })).toBe(false);
  latest().receive(caughtUpMessage());
  expect(socket.send({ command: "cancel" })).toBe(true);
  latest().break();
  expect(socket.send({ command: "cancel" })).toBe(false);
});

test("late messages of a connection that was given up are ignored", () => {
  socket.open("s1", "default");
  const old = latest();
  old.accept();
  socket.open("s2", "default");
  old.receive(...runMessages());
  old.break();
  expect(events.filter((event) => event.type !== "link")).toEqual([]);
  expect(FakeWebSocket.all).toHaveLength(2);
});

test("a frame that cannot be read is reported, left out, and the connection goes on", () => {
  socket.open("s1", "default");
  latest().accept();
  latest().receiveRaw("{");
  latest().receiveRaw("7");
  latest().receiveRaw(JSON.stringify({ ...approvalRequest(), digest: undefined }));
  expect(events.filter((event) => event.type !== "link")).toEqual([]);
  expect(problems).toEqual([
    "it is not an object with a `type`",
    "it is not an object with a `type`",
    "`digest` of `tool_approval_request` is missing or of another kind",
  ]);
  latest().receive(resumedMessage(), caughtUpMessage());
  expect(links()).toEqual(["connecting", "catching-up", "live"]);
});

test("messages of unknown types are ignored, with one warning for all of them", () => {
  const warn = vi.spyOn(console, "warn").mockReturnValue(undefined);
  socket.open("s1", "default");
  latest().accept();
  latest().receiveRaw('{"type":"weather"}');
  latest().receiveRaw('{"type":"system","subtype":"weather","content":{}}');
  expect(events.filter((event) => event.type !== "link")).toEqual([]);
  expect(problems).toEqual([]);
  expect(warn).toHaveBeenCalledExactlyOnceWith("Countersign: messages of the unknown type weather are ignored");
  warn.mockRestore();
});
