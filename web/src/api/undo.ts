// Undo over REST: what it would do, and then exactly that.
import { call, inProject } from "./client";
import type { Schemas } from "./message";

export type UndoPlan = Schemas["UndoView"];
export type UndoFile = Schemas["UndoFile"];
export type Undone = Schemas["UndoneView"];

/** What is undone: one call, or all calls of a run. */
export interface UndoScope {
  projectId: string;
  of: "tools" | "runs";
  id: string;
}

const path = ({ projectId, of, id }: UndoScope) => inProject(projectId, `${of}/${encodeURIComponent(id)}/undo`);

export function lookAtUndo(scope: UndoScope): Promise<UndoPlan> {
  return call<UndoPlan>("GET", path(scope));
}

/** Does what was shown; if that would be something else by now, the server refuses. */
export function carryOutUndo(scope: UndoScope, { digest }: UndoPlan, skipRefused: boolean): Promise<Undone> {
  return call<Undone>("POST", path(scope), { digest, skip_refused: skipRefused });
}
