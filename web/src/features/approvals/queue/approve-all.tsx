import { Button } from "../../../ui/button";
import { coveredByApproveAll } from "./batch-state";
import { useApprovals } from "../store";

interface ApproveAllProps {
  /** By `conversationKey`. */
  conversation: string;
  isLive: boolean;
}

/** Opens the list of what waits in one conversation; nothing is approved before that was looked at. */
export function ApproveAll({ conversation, isLive }: ApproveAllProps) {
  const count = useApprovals((queue) => coveredByApproveAll(queue, conversation).length);
  // It would approve what was asked, not what somebody is just making of it.
  const isEditing = useApprovals((queue) => Object.keys(queue.edits).length > 0);
  const open = useApprovals((queue) => queue.openBatch);
  if (count < 2) return null;
  return (
    <Button size="small" disabled={!isLive || isEditing} onClick={() => open(conversation)} title="What waits in this conversation, HIGH excepted">
      Approve all {count.toLocaleString("en")}…
    </Button>
  );
}
