// "Approve and don't ask again": what exactly would be allowed from now on, and how far.
import { useId, useState } from "react";

import { scopesOf } from "../../../api/can";
import type { ApprovalRequest, Proposal } from "../../../api/message";
import { BLANKS } from "../../../lib/visible-text";
import { Button } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import { Prose } from "../../../ui/prose";
import { Visible } from "../../../ui/visible";
import styles from "./always-menu.module.css";
import type { Grant, Scope } from "../queue/queue-state";

const WHERE: Record<Scope, string> = {
  session: "in this conversation",
  project: "in this project",
};

interface AlwaysMenuProps {
  request: ApprovalRequest;
  rests: boolean;
  onGrant: (grant: Grant) => void;
}

/** Offered only where the server offers it. Closed at first: once is the default. */
export function AlwaysMenu({ request, rests, onGrant }: AlwaysMenuProps) {
  const [isOpen, setOpen] = useState(false);
  const menu = useId();
  const scopes = scopesOf(request);
  if (scopes.length === 0) return null;
  return (
    <div className={styles.always}>
      <Button look="quiet" size="small" aria-expanded={isOpen} aria-controls={menu} onClick={() => setOpen(!isOpen)}>
        <span className={styles.chevron} data-open={isOpen}>
          <Icon name="chevron" />
        </span>
        Approve and don’t ask again
      </Button>
      <div id={menu} className={styles.menu} hidden={!isOpen}>
        {isOpen && <Choices proposals={request.proposals} scopes={scopes} rests={rests} onGrant={onGrant} />}
      </div>
    </div>
  );
}

interface ChoicesProps {
  proposals: readonly Proposal[];
  scopes: readonly Scope[];
  rests: boolean;
  onGrant: (grant: Grant) => void;
}

function Choices({ proposals, scopes, rests, onGrant }: ChoicesProps) {
  const name = useId();
  // The narrowest of both.
  const [chosen, choose] = useState(0);
  const [scope, setScope] = useState<Scope>(scopes[0] ?? "session");
  const grant = () => onGrant({ scope, rule: proposals[chosen]?.rules.join("\n") ?? "" });
  return (
    <>
      <fieldset>
        <legend>Don’t ask again for</legend>
        <div className={styles.list}>
          {proposals.map((proposal, index) => (
            <ProposalChoice
              key={proposal.rules.join("\n")}
              name={`${name}-rule`}
              proposal={proposal}
              isChosen={index === chosen}
              onChoose={() => choose(index)}
            />
          ))}
        </div>
      </fieldset>
      <fieldset className={styles.scopes}>
        <legend>Where</legend>
        {scopes.map((value) => (
          <label key={value}>
            <input type="radio" name={`${name}-scope`} checked={scope === value} onChange={() => setScope(value)} />
            {WHERE[value]}
          </label>
        ))}
      </fieldset>
      <Button disabled={rests} onClick={grant} className={styles.confirm}>
        Approve, and add the rule {WHERE[scope]}
      </Button>
    </>
  );
}

interface ProposalChoiceProps {
  name: string;
  proposal: Proposal;
  isChosen: boolean;
  onChoose: () => void;
}

function ProposalChoice({ name, proposal, isChosen, onChoose }: ProposalChoiceProps) {
  return (
    <label className={styles.proposal}>
      <input type="radio" name={name} checked={isChosen} onChange={onChoose} />
      <span>
        <Prose text={proposal.label} />
      </span>
      <span className={styles.rules}>
        {proposal.rules.map((rule) => (
          <code key={rule}>
            <Visible text={rule} blanks={BLANKS} />
          </code>
        ))}
        {proposal.matched_before > 0 && <span className={styles.matched}>{matchedText(proposal.matched_before)}</span>}
      </span>
    </label>
  );
}

function matchedText(count: number): string {
  return `would have matched ${count.toLocaleString("en")} earlier ${count === 1 ? "call" : "calls"}`;
}
