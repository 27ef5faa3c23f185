import { previewOf } from "../../../api/message";
import type { Previewed } from "../../../api/message";
import { CappedText } from "../../../ui/capped-text";

/** A tool we have no picture of: its input, as it is. */
export function GenericPreview({ request }: { request: Previewed }) {
  const input = previewOf(request).input ?? request.tool_input;
  return <CappedText label="Input" text={JSON.stringify(input, null, 2)} lines={400} characters={40_000} isSuspect />;
}
