//! Rules as rows: what a project keeps, and what was granted in a conversation.

use std::collections::HashMap;

use countersign_core::rule::Source;
use countersign_core::{Approval, ApprovalId, Outcome, ProjectId, RuleId, SessionId};
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};

use super::{Store, StoreError, iso, moment};

/// How a kept rule came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
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
    pub effect: Outcome,
    /// As it was written.
    pub rule: String,
    /// Why it is there, in its author's words.
    pub why: Option<String>,
    /// How it came to be.
    pub origin: Origin,
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
    pub fn source(&self) -> Source {
        if self.session.is_some() { Source::Session } else { Source::Project }
    }
}

impl Store {
    /// Returns the rules of a project that were not revoked, and those of all its conversations.
    pub async fn rules(&self, project: &ProjectId) -> Result<Vec<StoredRule>, StoreError> {
        let project = project.clone();
        let all = "project_id = ? ORDER BY session_id IS NOT NULL, session_id, position, rowid";
        self.readers.read(move |db| list(db, all, &[project.as_str()])).await
    }

    /// Returns the rules that hold in a project, and in one of its conversations.
    pub(crate) async fn rules_in(
        &self,
        project: &ProjectId,
        session: Option<&SessionId>,
    ) -> Result<Vec<StoredRule>, StoreError> {
        // A project's rules have no session, so the empty text finds none.
        let session = session.map(|it| it.as_str().to_owned()).unwrap_or_default();
        let both = [project.to_string(), session];
        self.readers.read(move |db| list(db, OF_BOTH, &both.each_ref().map(String::as_str))).await
    }

    /// Replaces a project's own rules, if `stands` agrees with those it finds.
    ///
    /// Those whose id is among the old ones are changed in place, those that are missing revoked.
    /// Returns whether that was done.
    pub(crate) async fn replace_rules(
        &self,
        project: &ProjectId,
        rules: Vec<StoredRule>,
        now: Timestamp,
        stands: impl FnOnce(&[StoredRule]) -> bool + Send + 'static,
    ) -> Result<bool, StoreError> {
        let project = project.clone();
        self.writer
            .write(move |ledger| {
                let old = list(ledger.db, OF_PROJECT, &[project.as_str()])?;
                if !stands(&old) {
                    return Ok(false);
                }
                let mut gone: HashMap<RuleId, StoredRule> =
                    old.into_iter().map(|rule| (rule.id, rule)).collect();
                for (position, rule) in rules.iter().enumerate() {
                    let position = i64::try_from(position).unwrap_or(i64::MAX);
                    match gone.remove(&rule.id) {
                        Some(_) => change(ledger.db, rule, position)?,
                        None => insert(ledger.db, rule, position)?,
                    }
                }
                for id in gone.into_keys() {
                    revoke(ledger.db, &project, id, now)?;
                }
                Ok(true)
            })
            .await
    }

    /// Keeps new rules beside those that are there.
    pub(crate) async fn add_rules(&self, rules: Vec<StoredRule>) -> Result<(), StoreError> {
        self.writer
            .write(move |ledger| rules.iter().try_for_each(|rule| add(ledger.db, rule)))
            .await
    }

    /// Revokes a rule; returns whether there was one to revoke.
    pub(crate) async fn revoke_rule(
        &self,
        project: &ProjectId,
        id: RuleId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let project = project.clone();
        self.writer.write(move |ledger| revoke(ledger.db, &project, id, now)).await
    }
}

const OF_PROJECT: &str = "project_id = ? AND session_id IS NULL ORDER BY position, rowid";
const OF_BOTH: &str = "project_id = ? AND (session_id IS NULL OR session_id = ?)
                       ORDER BY session_id IS NOT NULL, position, rowid";

/// Keeps a new rule behind those that are there: in the same transaction as what led to it.
pub(super) fn add(db: &Connection, rule: &StoredRule) -> Result<(), StoreError> {
    let session = rule.session.as_ref().map(SessionId::as_str);
    let last: Option<i64> = db
        .prepare_cached("SELECT max(position) FROM rules WHERE project_id = ? AND session_id IS ?")?
        .query_row(params![rule.project.as_str(), session], |row| row.get(0))?;
    insert(db, rule, last.map_or(0, |last| last.saturating_add(1)))
}

/// Counts a use of every kept rule that let a call run.
pub(super) fn count_uses(
    db: &Connection,
    run: &Approval,
    now: Timestamp,
) -> Result<(), StoreError> {
    if run.verdict.outcome != Outcome::Allow {
        return Ok(());
    }
    for rule in run.verdict.rules() {
        let kept = matches!(rule.source, Source::Project | Source::Session);
        if let Some(id) = rule.id.as_ref().filter(|_| kept) {
            db.prepare_cached("UPDATE rules SET uses = uses + 1, last_used_at = ? WHERE id = ?")?
                .execute([&iso(now), id])?;
        }
    }
    Ok(())
}

fn insert(db: &Connection, rule: &StoredRule, position: i64) -> Result<(), StoreError> {
    let (kind, approval) = match rule.origin {
        Origin::Page => ("page", None),
        Origin::Approval(id) => ("approval", Some(id.to_string())),
    };
    db.prepare_cached(
        "INSERT INTO rules (id, project_id, session_id, position, effect, rule, why, origin_kind,
           approval_id, created_by, created_at, expires_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        rule.id.to_string(),
        rule.project.as_str(),
        rule.session.as_ref().map(SessionId::as_str),
        position,
        word(rule.effect),
        rule.rule,
        rule.why,
        kind,
        approval,
        rule.created_by,
        iso(rule.created_at),
        rule.expires_at.map(iso),
    ])?;
    Ok(())
}

/// Changes what a rule says; how it came to be and how often it was used stays.
fn change(db: &Connection, rule: &StoredRule, position: i64) -> Result<(), StoreError> {
    db.prepare_cached(
        "UPDATE rules SET position = ?, effect = ?, rule = ?, why = ?, expires_at = ? WHERE id = ?",
    )?
    .execute(params![
        position,
        word(rule.effect),
        rule.rule,
        rule.why,
        rule.expires_at.map(iso),
        rule.id.to_string(),
    ])?;
    Ok(())
}

fn revoke(
    db: &Connection,
    project: &ProjectId,
    id: RuleId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let revoked = db
        .prepare_cached(
            "UPDATE rules SET revoked_at = ?
             WHERE id = ? AND project_id = ? AND revoked_at IS NULL",
        )?
        .execute([iso(now), id.to_string(), project.to_string()])?;
    Ok(revoked == 1)
}

fn list(db: &Connection, condition: &str, with: &[&str]) -> Result<Vec<StoredRule>, StoreError> {
    let sql = format!("SELECT * FROM rules WHERE revoked_at IS NULL AND {condition}");
    let mut query = db.prepare_cached(&sql)?;
    let mut rows = query.query(rusqlite::params_from_iter(with))?;
    let mut rules = Vec::new();
    while let Some(row) = rows.next()? {
        rules.push(stored(row)?);
    }
    Ok(rules)
}

fn stored(row: &Row<'_>) -> Result<StoredRule, StoreError> {
    let text = |column: &str| row.get::<_, String>(column);
    let maybe = |column: &str| row.get::<_, Option<String>>(column);
    let at = |column: &str| maybe(column)?.map(|text| moment(&text)).transpose();
    let approval = maybe("approval_id")?.map(|id| id.parse()).transpose();
    let approval = approval.map_err(|error| StoreError::corrupt("approval id", error))?;
    let id = text("id")?.parse();
    Ok(StoredRule {
        id: id.map_err(|error| StoreError::corrupt("rule id", error))?,
        project: text("project_id")?.into(),
        session: maybe("session_id")?.map(SessionId::from),
        effect: outcome(&text("effect")?),
        rule: text("rule")?,
        why: maybe("why")?,
        origin: approval.map_or(Origin::Page, Origin::Approval),
        created_by: text("created_by")?,
        created_at: moment(&text("created_at")?)?,
        expires_at: at("expires_at")?,
        uses: row.get::<_, i64>("uses")?.max(0).cast_unsigned(),
        last_used_at: at("last_used_at")?,
    })
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Allow => "allow",
        Outcome::Ask => "ask",
        Outcome::Deny => "deny",
    }
}

/// A word nobody knows was not meant to allow.
fn outcome(word: &str) -> Outcome {
    match word {
        "allow" => Outcome::Allow,
        "ask" => Outcome::Ask,
        _ => Outcome::Deny,
    }
}
