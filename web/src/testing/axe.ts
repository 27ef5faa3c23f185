// Accessibility check for tests. Colours are left out: the test browser has no layout to judge them by.
import axe from "axe-core";

/** The rules that fail, each with the elements it is about; empty when all is well. */
export async function violations(root: Element = document.body): Promise<string[]> {
  const result = await axe.run(root, { rules: { "color-contrast": { enabled: false }, region: { enabled: false } } });
  return result.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
}
