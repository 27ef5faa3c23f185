// Which grammar a file wants, by its name. Knows names only, so that it stays out of the lazy chunk.

const BY_EXTENSION: Record<string, string> = {
  bash: "bash", c: "c", cjs: "javascript", css: "css", go: "go", h: "c", htm: "markup", html: "markup", java: "java",
  js: "javascript", json: "json", jsonc: "json", jsx: "jsx", lock: "toml", md: "markdown", mjs: "javascript",
  mts: "typescript", py: "python", rs: "rust", sh: "bash", sql: "sql", svg: "markup", toml: "toml", ts: "typescript",
  tsx: "tsx", xml: "markup", yaml: "yaml", yml: "yaml", zsh: "bash",
};

export function languageOf(path: string): string | null {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return BY_EXTENSION[name.slice(name.lastIndexOf(".") + 1)] ?? null;
}
