// Which calls are shown, as the address has it. Pure.
import type { ExecutionFilter } from "../../api/executions";

const FIELDS = ["status", "tool", "risk", "session"] as const;

export function filterOf(params: URLSearchParams): ExecutionFilter {
  const value = (name: string) => params.get(name)?.trim() ?? "";
  return { status: value("status"), tool: value("tool"), risk: value("risk"), session: value("session") };
}

/** The address with a part of the filter changed; an opened call is closed, since it may not be there any more. */
export function withFilter(params: URLSearchParams, change: Partial<ExecutionFilter>): URLSearchParams {
  const next = new URLSearchParams(params);
  next.delete("call");
  for (const [name, value] of Object.entries(change)) {
    if (value === "") next.delete(name);
    else next.set(name, value);
  }
  return next;
}

/** The address with this call opened; none is closed. */
export function withCall(params: URLSearchParams, toolId: string | null): URLSearchParams {
  const next = new URLSearchParams(params);
  if (toolId === null) next.delete("call");
  else next.set("call", toolId);
  return next;
}

/** The address with nothing left out: only the workspace stays. */
export function unfiltered(params: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...params].filter(([name]) => name === "project"));
}

export function isFiltered(filter: ExecutionFilter): boolean {
  return FIELDS.some((name) => filter[name] !== "");
}
