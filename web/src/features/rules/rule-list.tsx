// The rules that stand, by what they do.
import type { RuleView } from "../../api/rules";
import { ago } from "../../lib/time";
import { useNow } from "../../lib/use-now";
import { Badge } from "../../ui/badge";
import { ConfirmButton } from "../../ui/confirm-button";
import { PageLink } from "../../ui/page-link";
import { Prose } from "../../ui/prose";
import { Visible } from "../../ui/visible";
import { EFFECTS } from "./effect-badge";
import { useIsChangingRules, useRevokeRule } from "./queries";
import { RuleText } from "./rule-text";
import styles from "./rules.module.css";

const GROUPS = {
  deny: { title: "Deny", about: "never runs" },
  ask: { title: "Ask", about: "waits for you" },
  allow: { title: "Allow", about: "runs without asking" },
} as const;

interface RuleListProps {
  projectId: string;
  rules: readonly RuleView[];
  /** The conversation that is open, to tell its rules from those of others. */
  sessionId: string;
}

export function RuleList({ projectId, rules, sessionId }: RuleListProps) {
  const now = useNow(30_000);
  if (rules.length === 0) {
    return (
      <p className={styles.empty}>
        No rules yet: reads run, everything else asks. <PageLink href="/rules/edit">Add the first rule</PageLink>, or approve
        something with “don’t ask again”.
      </p>
    );
  }
  return EFFECTS.map((effect) => {
    const own = rules.filter((rule) => rule.effect === effect);
    const { title, about } = GROUPS[effect];
    if (own.length === 0) return null;
    return (
      <section key={effect} className={styles.group} aria-label={`${title}: ${about}`} data-effect={effect}>
        <h2>
          {title} <span>{about}</span>
        </h2>
        <ul>
          {own.map((rule) => (
            <RuleItem key={keyOf(rule)} projectId={projectId} rule={rule} sessionId={sessionId} now={now} />
          ))}
        </ul>
      </section>
    );
  });
}

function keyOf({ id, source, rule, origin }: RuleView): string {
  return id ?? `${source} ${origin.path ?? ""} ${rule}`;
}

interface RuleItemProps {
  projectId: string;
  rule: RuleView;
  sessionId: string;
  now: number;
}

function RuleItem({ projectId, rule, sessionId, now }: RuleItemProps) {
  const isBusy = useIsChangingRules(projectId);
  const revoke = useRevokeRule(projectId);
  const { id } = rule;
  return (
    <li className={styles.item} data-holds={rule.holds}>
      <div className={styles.itemHead}>
        <RuleText text={rule.rule} />
        <Source rule={rule} sessionId={sessionId} />
        {!rule.holds && (
          <Badge tone="warn" symbol="▲">
            {whyNot(rule, now)}
          </Badge>
        )}
      </div>
      {id !== null && (
        <div className={styles.itemActions}>
          <ConfirmButton
            label="Revoke"
            question="Revoke it?"
            subject={rule.rule}
            disabled={isBusy}
            onConfirm={() => revoke.mutate(id)}
          />
        </div>
      )}
      {rule.why && (
        <p className={styles.why}>
          <Prose text={rule.why} />
        </p>
      )}
      <p className={styles.meta}>{metaOf(rule, now).join(" · ")}</p>
      <Origin rule={rule} />
      {rule.warnings.length > 0 && (
        <ul className={styles.warnings} aria-label="Warnings">
          {rule.warnings.map((warning) => (
            <li key={warning}>
              <Prose text={warning} />
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

function whyNot({ source, expires_at: end }: RuleView, now: number): string {
  if (end !== null && new Date(end).getTime() <= now) return "not in force: expired";
  return source === "workspace" ? "not in force: workspace not trusted" : "not in force";
}

const SOURCES = { user: "yours", workspace: "workspace", project: "project" } as const;

function Source({ rule: { source, session_id: id }, sessionId }: { rule: RuleView; sessionId: string }) {
  if (source !== "session") return <Badge>{SOURCES[source] ?? source}</Badge>;
  const word = id === sessionId ? "this conversation" : "another conversation";
  return <Badge>{id === null ? "this conversation" : <PageLink href={`/agent/${encodeURIComponent(id)}`}>{word}</PageLink>}</Badge>;
}

function metaOf(rule: RuleView, now: number): string[] {
  const used = rule.last_used_at === null ? "" : `, last ${ago(rule.last_used_at, now)}`;
  const uses = rule.uses === 0 ? "never used" : `used ${times(rule.uses)}${used}`;
  const expires = rule.expires_at === null ? "does not expire" : expiryText(rule.expires_at, now);
  const added = rule.created_at === null ? [] : [`added ${ago(rule.created_at, now)}${rule.created_by ? ` by ${rule.created_by}` : ""}`];
  return [...(isCounted(rule) ? [uses] : []), expires, ...added];
}

/** Only what ran because of a rule that is kept here is counted. */
function isCounted({ id, effect }: RuleView): boolean {
  return id !== null && effect === "allow";
}

function times(count: number): string {
  return count === 1 ? "once" : `${count.toLocaleString("en")} times`;
}

function expiryText(time: string, now: number): string {
  const end = new Date(time);
  const text = end.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  return end.getTime() < now ? `expired ${text}` : `until ${text}`;
}

function Origin({ rule: { origin } }: { rule: RuleView }) {
  if (origin.kind === "page") return <p className={styles.meta}>from this page</p>;
  const [what, name] = origin.kind === "approval" ? ["from approval", origin.approval_id] : ["from", origin.path];
  return (
    <p className={styles.meta}>
      {what} {name !== null && <code><Visible text={name} /></code>}
    </p>
  );
}
