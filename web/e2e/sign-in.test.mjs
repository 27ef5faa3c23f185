// Getting in: the sign-in page with its field, and a link that `countersign login` prints while the server runs.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { BINARY, RESULTS } from "./places.mjs";
import { TOKEN, connected, startWorld } from "./world.mjs";

const run = promisify(execFile);

const SIZES = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

test("who is not signed in is told how to get in, and gets in with a token", async (t) => {
  const world = await startWorld(t);
  const context = await world.browser.newContext({ viewport: SIZES.wide });
  const page = await context.newPage();
  const answer = await page.goto(`${world.url}history`);
  assert.equal(answer.status(), 401);
  await page.getByRole("main").getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
  await page.getByRole("banner").getByText("Countersign").waitFor();
  await page.getByText("countersign login", { exact: true }).waitFor();
  assert.equal(await page.getByText("restart the server").count(), 0);

  await page.getByLabel("Token", { exact: true }).fill("not-a-token");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("This token does not sign you in").waitFor();

  await page.getByLabel("Token", { exact: true }).fill(TOKEN);
  await page.keyboard.press("Enter");
  await connected(page);
  assert.match(page.url(), /\/agent$/, "nothing secret stays in the address");
});

test("a link that countersign login prints signs one browser in, once", async (t) => {
  const world = await startWorld(t);
  const args = ["login", "--json", "--data", join(world.home, "data")];
  const { stdout } = await run(BINARY, args, { env: { PATH: process.env.PATH, HOME: world.home } });
  const { url } = JSON.parse(stdout);
  const phone = await world.browser.newContext({ viewport: SIZES.phone });
  const page = await phone.newPage();
  await page.goto(url);
  await connected(page);
  const other = await (await world.browser.newContext()).newPage();
  assert.equal((await other.goto(url)).status(), 401);
  await other.getByRole("alert").getByText("was used before").waitFor();
});

test("the sign-in page has the page's colours, light and dark, and fits a phone", async (t) => {
  const world = await startWorld(t);
  for (const colorScheme of ["light", "dark"]) {
    for (const [name, viewport] of Object.entries(SIZES)) {
      const context = await world.browser.newContext({ viewport, colorScheme });
      const page = await context.newPage();
      await page.goto(`${world.url}agent?token=void`);
      await page.getByRole("alert").waitFor();
      const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(paper, colorScheme === "light" ? "rgb(250, 249, 246)" : "rgb(19, 18, 17)");
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(overflow <= 0, `${name}: nothing is cut off`);
      await page.screenshot({ path: join(RESULTS, `sign-in-${colorScheme}-${name}.png`) });
    }
  }
});
