//! Checking the audit: whether the chains are whole, and whether the calls are what they tell of.

use std::collections::HashMap;

use countersign_core::{ApprovalId, ProjectId};

use super::{AuditAction, AuditRow, CallAuditAction, ChainEnd, chain_ends, rows_after, seal};
use crate::store::StoreError;
use crate::store::approvals::{self, AuditedCall};
use crate::store::database::SqlConnection;

/// How many rows, and how many calls, are read at a time.
const PAGE: usize = 1024;
const CALLS: usize = 128;

/// What came of checking the audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// How many rows are whole.
    pub rows: u64,
    /// Where the chains end. Kept elsewhere, an end proves that nothing before it was changed since.
    pub ends: Vec<ChainEnd>,
    /// The first thing that is not as it should be.
    pub broken: Option<AuditChainBreak>,
}

/// The first row that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditChainBreak {
    /// The project whose chain it is in.
    pub project: ProjectId,
    /// The number of the row.
    pub seq: u64,
    /// What is wrong.
    pub why: String,
}

/// What a chain last told of a call.
struct LastCallAction {
    seq: u64,
    act: CallAuditAction,
}

/// A walk along one chain.
pub(in crate::store) struct AuditChainWalk {
    project: ProjectId,
    seq: u64,
    hash: String,
    calls: HashMap<ApprovalId, LastCallAction>,
}

impl AuditChainWalk {
    pub(in crate::store) fn new(project: ProjectId) -> Self {
        Self { project, seq: 0, hash: String::new(), calls: HashMap::new() }
    }

    /// Goes one row further; the error is what is wrong with it.
    fn step(&mut self, row: &AuditRow) -> Result<(), AuditChainBreak> {
        let expected = self.seq + 1;
        if row.seq != expected {
            return Err(self.break_at(expected, "it was removed".to_owned()));
        }
        let seal = seal(&self.hash, &row.project, row.seq, row.at, &row.body);
        if seal != row.hash {
            return Err(self.break_at(row.seq, "it was changed or moved".to_owned()));
        }
        match serde_json::from_str(&row.body) {
            Ok(AuditAction::Call(act)) => {
                self.calls.insert(act.approval_id, LastCallAction { seq: row.seq, act: *act });
            }
            Ok(AuditAction::Masked { calls }) => {
                for masked in calls {
                    if let Some(last) = self.calls.get_mut(&masked.approval_id) {
                        (last.seq, last.act.kept) = (row.seq, Some(masked.kept));
                    }
                }
            }
            Ok(
                AuditAction::Rules { .. }
                | AuditAction::Settings { .. }
                | AuditAction::ResultRefused { .. }
                | AuditAction::Undone { .. },
            ) => {}
            Err(error) => {
                return Err(self.break_at(row.seq, format!("it cannot be read: {error}")));
            }
        }
        (self.seq, self.hash) = (row.seq, seal);
        Ok(())
    }

    /// Compares where the chain ends with where the books say it does.
    fn check_end(&self, end: &ChainEnd) -> Result<(), AuditChainBreak> {
        match (self.seq == end.seq, self.hash == end.hash) {
            (true, true) => Ok(()),
            (true, false) => Err(self.break_at(self.seq, "it is not the row it was".to_owned())),
            (false, _) => {
                let why = format!("it and all up to {} were removed", end.seq);
                Err(self.break_at(self.seq + 1, why))
            }
        }
    }

    /// Compares a call with what its chain last told of it. Calls from before the audit are in no
    /// chain.
    pub(in crate::store) fn check_call(
        &mut self,
        standing: &AuditedCall,
    ) -> Result<(), AuditChainBreak> {
        let AuditedCall { status, call, kept } = standing;
        let id = call.id();
        let Some(LastCallAction { seq, act }) = self.calls.remove(&id) else { return Ok(()) };
        let AuditAction::Call(stands) = AuditAction::for_call(call, None) else { return Ok(()) };
        let what = if act.status != stands.status || act.status != *status {
            format!("the call {id} is {status}, not {}", act.status)
        } else if act.saw != *call.digest() {
            format!("the call {id} is bound to something else than was decided on")
        } else if kept.is_some() {
            // What it was is gone with its secrets; what is left must be what was left then.
            if act.kept == *kept {
                return Ok(());
            }
            format!("what is left of the call {id}, its input among it, was changed")
        } else if act.input != stands.input {
            format!("the input of the call {id} was changed")
        } else if act.result != stands.result {
            format!("the result of the call {id} was changed")
        } else if act.saw != call.binding() {
            format!("the call {id} is bound to something else than was decided on")
        } else {
            return Ok(());
        };
        Err(self.break_at(seq, what))
    }

    fn break_at(&self, seq: u64, why: String) -> AuditChainBreak {
        AuditChainBreak { project: self.project.clone(), seq, why }
    }
}

/// Checks all chains of the audit, and that every call stands as its chain tells.
pub(super) fn verify(db: &mut dyn SqlConnection) -> Result<AuditReport, StoreError> {
    let ends = chain_ends(db)?;
    let mut rows = 0;
    for end in &ends {
        let mut walk = AuditChainWalk::new(end.project.clone());
        let checked = verify_chain(db, &mut walk, end)?;
        rows += walk.seq;
        if let Err(broken) = checked {
            return Ok(AuditReport { rows, ends, broken: Some(broken) });
        }
    }
    Ok(AuditReport { rows, ends, broken: None })
}

fn verify_chain(
    db: &mut dyn SqlConnection,
    walk: &mut AuditChainWalk,
    end: &ChainEnd,
) -> Result<Result<(), AuditChainBreak>, StoreError> {
    if let Err(broken) = walk_chain(db, walk)? {
        return Ok(Err(broken));
    }
    if let Err(broken) = walk.check_end(end) {
        return Ok(Err(broken));
    }
    verify_calls(db, walk)
}

/// Goes along a chain to its end, or to the first row that is not as it should be.
pub(in crate::store) fn walk_chain(
    db: &mut dyn SqlConnection,
    walk: &mut AuditChainWalk,
) -> Result<Result<(), AuditChainBreak>, StoreError> {
    loop {
        let page = rows_after(db, &walk.project, walk.seq, PAGE)?;
        for row in &page {
            if let Err(broken) = walk.step(row) {
                return Ok(Err(broken));
            }
        }
        if page.len() < PAGE {
            return Ok(Ok(()));
        }
    }
}

/// Compares the calls of a project, page by page, with what its chain last told of each.
fn verify_calls(
    db: &mut dyn SqlConnection,
    walk: &mut AuditChainWalk,
) -> Result<Result<(), AuditChainBreak>, StoreError> {
    let mut after = String::new();
    loop {
        let page = approvals::list_for_audit(db, &walk.project, &after, CALLS)?;
        for standing in &page {
            if let Err(broken) = walk.check_call(standing) {
                return Ok(Err(broken));
            }
        }
        match page.last() {
            Some(AuditedCall { call, .. }) if page.len() == CALLS => after = call.id().to_string(),
            _ => break,
        }
    }
    let gone = walk.calls.values().min_by_key(|last| last.seq);
    Ok(match gone {
        Some(last) => {
            let why = format!("the call it tells of, {}, is gone", last.act.approval_id);
            Err(walk.break_at(last.seq, why))
        }
        None => Ok(()),
    })
}
