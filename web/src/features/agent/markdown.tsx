// Markdown of the assistant. Raw HTML stays off, nothing is loaded from other hosts. A chunk of its own.
import { memo } from "react";
import ReactMarkdown from "react-markdown";
import type { Components } from "react-markdown";
import remarkGfm from "remark-gfm";

import { visibleSegments } from "../../lib/visible-text";
import visible from "../../ui/visible.module.css";
import styles from "./markdown.module.css";

const PLUGINS = [remarkGfm];
const HTML_PLUGINS = [() => showHidden];

interface Node {
  type: string;
  value?: string;
  tagName?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
}

/** The model's text hides nothing either: what the eye would miss becomes a chip, as in `Visible`. */
function showHidden(node: Node) {
  if (!node.children) return;
  node.children = node.children.flatMap((child) => (child.type === "text" ? chipped(child.value ?? "") : [child]));
  node.children.forEach(showHidden);
}

function chipped(text: string): Node[] {
  return visibleSegments(text).map((segment) => {
    if (segment.kind !== "chip") return { type: "text", value: segment.text };
    const properties = { className: visible.chip, title: segment.name };
    return { type: "element", tagName: "span", properties, children: [{ type: "text", value: `⟨${segment.label}⟩` }] };
  });
}

const COMPONENTS: Components = {
  a: ({ href, children }) => <SafeLink href={href}>{children}</SafeLink>,
  // A picture would tell its host that and when this was read.
  img: ({ src, alt }) => <SafeLink href={typeof src === "string" ? src : undefined}>{alt || "image"}</SafeLink>,
  pre: ({ children }) => (
    <pre tabIndex={0} className={styles.pre}>
      {children}
    </pre>
  ),
  table: ({ children }) => (
    <div className={styles.table} tabIndex={0} role="region" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
};

function SafeLink({ href, children }: { href: string | undefined; children: React.ReactNode }) {
  if (!href || !/^https?:\/\//i.test(href)) return <span>{children}</span>;
  return (
    <a href={href} rel="noreferrer" target="_blank">
      {children}
    </a>
  );
}

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <div className={styles.markdown}>
      <ReactMarkdown remarkPlugins={PLUGINS} rehypePlugins={HTML_PLUGINS} components={COMPONENTS}>
        {text}
      </ReactMarkdown>
    </div>
  );
});

export default Markdown;
