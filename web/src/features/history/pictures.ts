import type { ReactNode } from "react";

import type { AskedFor } from "../../api/executions";
import type { RiskLevel } from "../../api/message";

/** What other features draw for this one. */
export interface Pictures {
  showRisk: (level: RiskLevel) => ReactNode;
  /** The preview that the person saw who decided. */
  showPreview: (asked: AskedFor) => ReactNode;
}
