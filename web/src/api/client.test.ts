import { afterEach, expect, test, vi } from "vitest";

import { NotSignedIn, Refused, call, describeError } from "./client";

afterEach(() => vi.unstubAllGlobals());

async function failure(answer: () => Promise<Response>): Promise<unknown> {
  vi.stubGlobal("fetch", answer);
  return call("GET", "/my/projects").catch((error: unknown) => error);
}

test("who is signed out reads the same everywhere, whatever was asked for", async () => {
  const error = await failure(() => Promise.resolve(new Response("", { status: 401 })));
  expect(error).toBeInstanceOf(NotSignedIn);
  expect(describeError(error)).toBe("you are signed out; open the sign-in link again");
});

test("a refusal is told in the server's words, or by its status where it has none", async () => {
  const refusal = await failure(() => Promise.resolve(Response.json({ error: { code: "busy", message: "come back later" } }, { status: 503 })));
  expect(refusal).toBeInstanceOf(Refused);
  expect(describeError(refusal)).toBe("come back later");
  expect(describeError(await failure(() => Promise.resolve(new Response("<html>", { status: 502 }))))).toBe("the server answered 502");
});

test("whatever else went wrong is told as it is", async () => {
  expect(describeError(await failure(() => Promise.reject(new TypeError("Failed to fetch"))))).toBe("Failed to fetch");
  expect(describeError("odd")).toBe("odd");
});
