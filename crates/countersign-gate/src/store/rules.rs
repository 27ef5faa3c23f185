//! Rules as rows: what a project keeps, and what was granted in a conversation.

use std::collections::HashMap;

use countersign_core::rule::RuleSource;
use countersign_core::{ApprovalId, Execution, ProjectId, RuleId, SessionId, VerdictAction};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::audit::AuditAction;
use super::database::SqlConnection;
use super::value::{SqlRow, SqlValue, values};
use super::write_txn::WriteTxn;
use super::{Store, StoreError};

/// How a kept rule came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredRuleOrigin {
    /// Somebody wrote it down.
    Page,
    /// Somebody said "always" to a request.
    Approval(ApprovalId),
}

/// A rule that the gate keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRule {
    /// Its id.
    pub id: RuleId,
    /// The project it holds in.
    pub project: ProjectId,
    /// The conversation it holds in; none where it holds in all of the project.
    pub session: Option<SessionId>,
    /// What is to happen.
    pub effect: VerdictAction,
    /// As it was written.
    pub rule: String,
    /// Why it is there, in its author's words.
    pub why: Option<String>,
    /// How it came to be.
    pub origin: StoredRuleOrigin,
    /// Who made it.
    pub created_by: String,
    /// When that was.
    pub created_at: Timestamp,
    /// From this moment on it no longer holds.
    pub expires_at: Option<Timestamp>,
    /// How many calls ran because of it.
    pub uses: u64,
    /// When the last of them did.
    pub last_used_at: Option<Timestamp>,
}

impl StoredRule {
    /// Returns who the rule comes from, as verdicts name it.
    pub fn source(&self) -> RuleSource {
        if self.session.is_some() { RuleSource::Session } else { RuleSource::Project }
    }

    /// Returns what the audit says of it.
    fn audit_text(&self) -> String {
        format!("{} {}: {}", self.id, effect_to_text(self.effect), self.rule)
    }
}

impl Store {
    /// Returns the rules of a project that were not revoked, and those of all its conversations.
    pub async fn rules(&self, project: &ProjectId) -> Result<Vec<StoredRule>, StoreError> {
        let project = project.clone();
        let all = "project_id = $1
                   ORDER BY session_id IS NOT NULL, session_id, position, created_at, id";
        self.readers.read(move |db| list(db, all, values![project.as_str()])).await
    }

    /// Returns the rules that hold in a project, and in one of its conversations.
    pub(crate) async fn rules_in(
        &self,
        project: &ProjectId,
        session: Option<&SessionId>,
    ) -> Result<Vec<StoredRule>, StoreError> {
        // A project's rules have no session, so the empty text finds none.
        let session = session.map(|it| it.as_str().to_owned()).unwrap_or_default();
        let project = project.to_string();
        self.readers.read(move |db| list(db, OF_BOTH, values![&project, &session])).await
    }

    /// Replaces a project's own rules, if `stands` agrees with those it finds.
    ///
    /// Those whose id is among the old ones are changed in place, those that are missing revoked.
    /// Returns whether that was done.
    pub(crate) async fn replace_rules(
        &self,
        project: &ProjectId,
        rules: Vec<StoredRule>,
        by: &str,
        now: Timestamp,
        stands: impl Fn(&[StoredRule]) -> bool + Send + 'static,
    ) -> Result<bool, StoreError> {
        let (project, by) = (project.clone(), by.to_owned());
        self.writer
            .write(move |ledger| {
                ledger.lock_counters(&project)?;
                let old = list(ledger.db(), OF_PROJECT, values![project.as_str()])?;
                if !stands(&old) {
                    return Ok(false);
                }
                let mut gone: HashMap<RuleId, StoredRule> =
                    old.into_iter().map(|rule| (rule.id, rule)).collect();
                for (position, rule) in rules.iter().enumerate() {
                    match gone.remove(&rule.id) {
                        Some(_) => change(ledger, rule, position)?,
                        None => insert(ledger, rule, position)?,
                    }
                }
                for id in gone.keys() {
                    revoke(ledger, &project, *id, now)?;
                }
                let act = AuditAction::Rules {
                    who: by.clone(),
                    session_id: None,
                    kept: rules.iter().map(StoredRule::audit_text).collect(),
                    revoked: gone.keys().map(ToString::to_string).collect(),
                };
                ledger.append_audit(&project, now, &act)?;
                Ok(true)
            })
            .await
    }

    /// Keeps new rules beside those that are there.
    pub(crate) async fn add_rules(
        &self,
        rules: Vec<StoredRule>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.writer.write(move |ledger| insert_grants(ledger, &rules, now)).await
    }

    /// Revokes a rule; returns whether there was one to revoke.
    pub(crate) async fn revoke_rule(
        &self,
        project: &ProjectId,
        id: RuleId,
        by: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let (project, by) = (project.clone(), by.to_owned());
        self.writer
            .write(move |ledger| {
                ledger.lock_counters(&project)?;
                let revoked = revoke(ledger, &project, id, now)?;
                if revoked {
                    let (who, kept, revoked) = (by.clone(), Vec::new(), vec![id.to_string()]);
                    let act = AuditAction::Rules { who, session_id: None, kept, revoked };
                    ledger.append_audit(&project, now, &act)?;
                }
                Ok(revoked)
            })
            .await
    }
}

/// Reads the rules that hold in a project, and in one of its conversations. Blocks.
pub(crate) fn read_rules(
    db: &mut dyn SqlConnection,
    project: &ProjectId,
    session: &SessionId,
) -> Result<Vec<StoredRule>, StoreError> {
    list(db, OF_BOTH, values![project.as_str(), session.as_str()])
}

const OF_PROJECT: &str = "project_id = $1 AND session_id IS NULL ORDER BY position, created_at, id";
const OF_BOTH: &str = "project_id = $1 AND (session_id IS NULL OR session_id = $2)
                       ORDER BY session_id IS NOT NULL, position, created_at, id";

/// Keeps new rules behind those that are there: in the same transaction as what led to them.
pub(super) fn insert_grants(
    ledger: &mut WriteTxn<'_>,
    rules: &[StoredRule],
    now: Timestamp,
) -> Result<(), StoreError> {
    for rule in rules {
        ledger.lock_counters(&rule.project)?;
        // The empty text stands for no conversation: there is none of that name.
        let session = rule.session.as_ref().map_or("", SessionId::as_str);
        let last = ledger.query_one(
            "SELECT position FROM rules WHERE project_id = $1 AND coalesce(session_id, '') = $2
             ORDER BY position DESC LIMIT 1",
            values![rule.project.as_str(), session],
        )?;
        let last = last.map(|mut row| row.take::<u64>()).transpose()?;
        let position = last.map_or(0, |last| usize::try_from(last + 1).unwrap_or(usize::MAX));
        insert(ledger, rule, position)?;
        let act = AuditAction::Rules {
            who: rule.created_by.clone(),
            session_id: rule.session.clone(),
            kept: vec![rule.audit_text()],
            revoked: Vec::new(),
        };
        ledger.append_audit(&rule.project, now, &act)?;
    }
    Ok(())
}

/// Counts a use of every kept rule that let a call run.
pub(super) fn count_uses(
    ledger: &mut WriteTxn<'_>,
    run: &Execution,
    now: Timestamp,
) -> Result<(), StoreError> {
    if run.verdict().outcome != VerdictAction::Allow {
        return Ok(());
    }
    for rule in run.verdict().rules() {
        let kept = matches!(rule.source, RuleSource::Project | RuleSource::Session);
        if let Some(id) = rule.id.as_ref().filter(|_| kept) {
            ledger.execute(
                "UPDATE rules SET uses = uses + 1, last_used_at = $1 WHERE id = $2",
                values![now, id],
            )?;
        }
    }
    Ok(())
}

fn insert(ledger: &mut WriteTxn<'_>, rule: &StoredRule, position: usize) -> Result<(), StoreError> {
    let (kind, approval) = match rule.origin {
        StoredRuleOrigin::Page => ("page", None),
        StoredRuleOrigin::Approval(id) => ("approval", Some(id.to_string())),
    };
    ledger.execute(
        "INSERT INTO rules (id, project_id, session_id, position, effect, rule, why, origin_kind,
           approval_id, created_by, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        values![
            rule.id.to_string(),
            rule.project.as_str(),
            rule.session.as_ref().map(SessionId::as_str),
            position,
            effect_to_text(rule.effect),
            &rule.rule,
            rule.why.as_deref(),
            kind,
            approval,
            &rule.created_by,
            rule.created_at,
            rule.expires_at,
        ],
    )?;
    Ok(())
}

/// Changes what a rule says; how it came to be and how often it was used stays.
fn change(ledger: &mut WriteTxn<'_>, rule: &StoredRule, position: usize) -> Result<(), StoreError> {
    ledger.execute(
        "UPDATE rules SET position = $1, effect = $2, rule = $3, why = $4, expires_at = $5
         WHERE id = $6",
        values![
            position,
            effect_to_text(rule.effect),
            &rule.rule,
            rule.why.as_deref(),
            rule.expires_at,
            rule.id.to_string(),
        ],
    )?;
    Ok(())
}

fn revoke(
    ledger: &mut WriteTxn<'_>,
    project: &ProjectId,
    id: RuleId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let revoked = ledger.execute(
        "UPDATE rules SET revoked_at = $1
         WHERE id = $2 AND project_id = $3 AND revoked_at IS NULL",
        values![now, id.to_string(), project.as_str()],
    )?;
    Ok(revoked == 1)
}

fn list(
    db: &mut dyn SqlConnection,
    condition: &str,
    with: &[SqlValue<'_>],
) -> Result<Vec<StoredRule>, StoreError> {
    let sql = format!(
        "SELECT id, project_id, session_id, effect, rule, why, approval_id, created_by, created_at,
           expires_at, uses, last_used_at
         FROM rules WHERE revoked_at IS NULL AND {condition}"
    );
    db.query(&sql, with)?.into_iter().map(stored_rule).collect()
}

fn stored_rule(mut row: SqlRow) -> Result<StoredRule, StoreError> {
    Ok(StoredRule {
        id: row.parse("rule id")?,
        project: row.take::<String>()?.into(),
        session: row.take::<Option<String>>()?.map(SessionId::from),
        effect: effect_from_text(&row.take::<String>()?),
        rule: row.take()?,
        why: row.take()?,
        origin: match row.take::<Option<String>>()?.map(|id| id.parse()).transpose() {
            Ok(approval) => approval.map_or(StoredRuleOrigin::Page, StoredRuleOrigin::Approval),
            Err(error) => return Err(StoreError::corrupt("approval id", error)),
        },
        created_by: row.take()?,
        created_at: row.take()?,
        expires_at: row.take()?,
        uses: row.take()?,
        last_used_at: row.take()?,
    })
}

fn effect_to_text(outcome: VerdictAction) -> &'static str {
    match outcome {
        VerdictAction::Allow => "allow",
        VerdictAction::Ask => "ask",
        VerdictAction::Deny => "deny",
    }
}

/// A word nobody knows was not meant to allow.
fn effect_from_text(word: &str) -> VerdictAction {
    match word {
        "allow" => VerdictAction::Allow,
        "ask" => VerdictAction::Ask,
        _ => VerdictAction::Deny,
    }
}
