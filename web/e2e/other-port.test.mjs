// The cookie of the page goes to every port of the host. Whoever listens there must not get in with it.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import { connected, openTab, startWorld } from "./world.mjs";

test("what another port of the host is sent opens nothing", async (t) => {
  const world = await startWorld(t);
  const page = await openTab(world);
  const seen = [];
  const other = createServer((request, response) => {
    seen.push(request.headers);
    response.setHeader("content-type", "text/html").end("<p>hello</p>");
  });
  await new Promise((listening) => other.listen(0, "127.0.0.1", listening));
  t.after(() => other.close());
  const stranger = await page.context().newPage();
  await stranger.goto(`http://127.0.0.1:${other.address().port}/`);
  const cookie = seen[0].cookie;
  assert.match(cookie ?? "", /^countersign_\d+=/, "browsers do send it: cookies know no ports");
  assert.equal(await stranger.evaluate(() => localStorage.length), 0, "the second secret is not there");

  for (const path of ["my/projects", "my/projects/default/approvals", "my/projects/default/chat/stream"]) {
    const answer = await fetch(world.url + path, { headers: { cookie } });
    assert.equal(answer.status, 401, path);
  }

  await page.reload();
  await connected(page);
  assert.doesNotMatch(page.url(), /session=/, "nothing secret stays in the address");
  const again = await page.context().newPage();
  await again.goto(`${world.url}history`);
  await again.getByText("Connected", { exact: true }).waitFor({ state: "attached" });
});
