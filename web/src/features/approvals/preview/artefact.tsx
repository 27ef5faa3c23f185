// What a call would do, drawn: the picture that fits its kind.
import { exchangesOf, planOf } from "../../../api/asking";
import type { Previewed } from "../../../api/message";
import { ExchangeList } from "../../../ui/exchange-list";
import { CommandPreview } from "./command-preview";
import { DiffPreview } from "../diff/diff-preview";
import { GenericPreview } from "./generic-preview";
import { MultiDiffPreview } from "../diff/multi-diff-preview";
import { PlanText } from "./plan-text";

interface ArtefactProps {
  request: Previewed;
  onHidden: (lines: number) => void;
}

export function Artefact({ request, onHidden }: ArtefactProps) {
  const exchanges = exchangesOf(request);
  if (exchanges) return <ExchangeList exchanges={exchanges} unanswered="not answered" />;
  const plan = planOf(request);
  if (plan !== null) return <PlanText plan={plan} />;
  switch (request.preview_type) {
    case "diff":
      return <DiffPreview request={request} onHidden={onHidden} />;
    case "multi_diff":
      return <MultiDiffPreview request={request} onHidden={onHidden} />;
    case "command":
      return <CommandPreview request={request} onHidden={onHidden} />;
    // Also for a kind that a newer server sends to a tab left open: its whole input is shown, never nothing.
    default:
      return <GenericPreview request={request} />;
  }
}
