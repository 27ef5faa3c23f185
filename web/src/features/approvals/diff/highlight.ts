// Syntax colour. Loaded on demand: this file and the grammars are a chunk of their own.
import { refractor } from "refractor/core";
import bash from "refractor/bash";
import c from "refractor/c";
import css from "refractor/css";
import go from "refractor/go";
import java from "refractor/java";
import javascript from "refractor/javascript";
import json from "refractor/json";
import jsx from "refractor/jsx";
import markdown from "refractor/markdown";
import markup from "refractor/markup";
import python from "refractor/python";
import rust from "refractor/rust";
import sql from "refractor/sql";
import toml from "refractor/toml";
import tsx from "refractor/tsx";
import typescript from "refractor/typescript";
import yaml from "refractor/yaml";

import type { Token } from "./paint";

const GRAMMARS = [
  bash, c, css, go, java, javascript, json, jsx, markdown, markup, python, rust, sql, toml, tsx, typescript, yaml,
];
for (const grammar of GRAMMARS) refractor.register(grammar);

type Node = ReturnType<typeof refractor.highlight>["children"][number];

/** Colours lines that follow each other in one file; the result has one entry per line. */
export function highlightLines(lines: readonly string[], language: string): Token[][] {
  const out: Token[][] = [[]];
  for (const node of refractor.highlight(lines.join("\n"), language).children) collect(node, "", out);
  return out;
}

function collect(node: Node, inherited: string, out: Token[][]) {
  if (node.type === "text") return append(node.value, inherited, out);
  if (node.type !== "element") return;
  const names = (node.properties.className as string[] | undefined) ?? [];
  const className = names.find((name) => name !== "token") ?? inherited;
  for (const child of node.children) collect(child as Node, className, out);
}

function append(text: string, className: string, out: Token[][]) {
  text.split("\n").forEach((part, index) => {
    if (index > 0) out.push([]);
    if (part !== "") out.at(-1)?.push({ text: part, className });
  });
}
