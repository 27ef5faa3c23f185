// Prints the gzip size of what the first load fetches and of all assets, from dist. Exits 1 above the budget.
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const BUDGET_KB = 160;
const dist = fileURLToPath(new URL("../dist", import.meta.url));

const kb = (path) => gzipSync(readFileSync(`${dist}/${path}`), { level: 9 }).length / 1024;
const html = readFileSync(`${dist}/index.html`, "utf8");
const first = ["index.html", ...[...html.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map((match) => match[1])];
const all = ["index.html", ...readdirSync(`${dist}/assets`).map((name) => `assets/${name}`)];
const sum = (paths) => paths.reduce((total, path) => total + kb(path), 0);

for (const path of all) {
  console.log(`${kb(path).toFixed(1).padStart(8)} KB  ${first.includes(path) ? "first" : "lazy "}  ${path}`);
}
console.log(`${sum(first).toFixed(1).padStart(8)} KB  first load, gzip`);
console.log(`${sum(all).toFixed(1).padStart(8)} KB  everything, gzip`);
if (sum(first) > BUDGET_KB) {
  console.error(`first load is above the budget of ${BUDGET_KB} KB`);
  process.exitCode = 1;
}
