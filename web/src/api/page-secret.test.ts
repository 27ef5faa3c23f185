import { afterEach, expect, test, vi } from "vitest";

import { pageSecret, pageSecretHeader, pageSecretProtocols, takePageSecret } from "./page-secret";

const SECRET = "0f".repeat(32);

afterEach(() => window.localStorage.clear());

function take(hash: string) {
  const replaceState = vi.fn<History["replaceState"]>();
  takePageSecret(
    { hash, pathname: "/agent", search: "?a=1" } as Location,
    { state: null, replaceState } as unknown as History,
  );
  return replaceState;
}

test("the secret is taken out of the address, kept, and sent", () => {
  expect(take(`#session=${SECRET}`)).toHaveBeenCalledWith(null, "", "/agent?a=1");
  expect(pageSecret()).toBe(SECRET);
  expect(pageSecretHeader()).toEqual({ "x-countersign-session": SECRET });
  expect(pageSecretProtocols()).toEqual(["countersign", `countersign.session.${SECRET}`]);
});

test("what another tab has stored since is what counts", () => {
  take(`#session=${SECRET}`);
  window.localStorage.setItem("countersign.page-secret", "a later one");
  expect(pageSecret()).toBe("a later one");
});

test("any other address is left as it is", () => {
  for (const hash of ["", "#session=", "#session=short", "#top"]) {
    expect(take(hash)).not.toHaveBeenCalled();
  }
});
