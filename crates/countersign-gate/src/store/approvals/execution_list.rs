//! Calls as lists: the history of a project, filtered, page by page, the latest first.

use std::fmt::Write as _;

use countersign_core::{ApprovalId, Execution, ExecutionStatus, ProjectId, Risk, SessionId};
use jiff::Timestamp;

use super::list;
use crate::store::value::SqlValue;
use crate::store::{Store, StoreError};

/// Which calls of a project are wanted; what is not given does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutionFilter {
    /// Those that stand at one of these.
    pub statuses: Vec<ExecutionStatus>,
    /// Those of a tool, to the letter.
    pub tool: Option<String>,
    /// Those of a risk.
    pub risk: Option<Risk>,
    /// Those of a conversation.
    pub session: Option<SessionId>,
    /// Those made at a moment or after it.
    pub from: Option<Timestamp>,
    /// Those made before a moment.
    pub to: Option<Timestamp>,
    /// Those that a person was to decide, or those that nobody was.
    pub asked: Option<bool>,
}

impl Store {
    /// Returns calls of a project, the latest first, before a place in that order.
    pub async fn executions(
        &self,
        project: &ProjectId,
        filter: ExecutionFilter,
        before: Option<(Timestamp, ApprovalId)>,
        limit: usize,
    ) -> Result<Vec<Execution>, StoreError> {
        self.executions_in(vec![project.clone()], filter, before, limit).await
    }

    /// Returns calls of several projects, the latest first, before a place in that order.
    pub async fn executions_in(
        &self,
        projects: Vec<ProjectId>,
        filter: ExecutionFilter,
        before: Option<(Timestamp, ApprovalId)>,
        limit: usize,
    ) -> Result<Vec<Execution>, StoreError> {
        if projects.is_empty() {
            return Ok(Vec::new());
        }
        self.readers
            .read(move |db| {
                let mut wanted = ExecutionQuery::for_projects(&projects);
                wanted.filter(&filter);
                if let Some((at, id)) = before {
                    wanted.and(
                        "(created_at, tool_executions.approval_id) <",
                        [at.into(), id.to_string().into()],
                    );
                }
                wanted.values.push(limit.into());
                let sql = format!(
                    "{} ORDER BY created_at DESC, tool_executions.approval_id DESC LIMIT ${}",
                    wanted.sql,
                    wanted.values.len()
                );
                list(db, &sql, &wanted.values)
            })
            .await
    }
}

/// A condition as it grows, with its values.
struct ExecutionQuery<'a> {
    sql: String,
    values: Vec<SqlValue<'a>>,
}

impl<'a> ExecutionQuery<'a> {
    fn for_projects(projects: &'a [ProjectId]) -> Self {
        let names: Vec<_> = (1..=projects.len()).map(|number| format!("${number}")).collect();
        Self {
            sql: format!("project_id IN ({})", names.join(", ")),
            values: projects.iter().map(|project| project.as_str().into()).collect(),
        }
    }

    fn filter(&mut self, filter: &'a ExecutionFilter) {
        if !filter.statuses.is_empty() {
            // Our own words, so they may stand in the statement; and few, so it stays prepared.
            let names = filter.statuses.iter().map(|status| format!("'{status}'"));
            let names = names.collect::<Vec<_>>().join(", ");
            let _ = write!(self.sql, " AND status IN ({names})");
        }
        if let Some(tool) = &filter.tool {
            self.and("tool_name =", [tool.into()]);
        }
        if let Some(risk) = filter.risk {
            self.and("risk_level =", [risk.to_string().into()]);
        }
        if let Some(session) = &filter.session {
            self.and("session_id =", [session.as_str().into()]);
        }
        if let Some(from) = filter.from {
            self.and("created_at >=", [from.into()]);
        }
        if let Some(to) = filter.to {
            self.and("created_at <", [to.into()]);
        }
        if let Some(asked) = filter.asked {
            self.and("requires_approval =", [asked.into()]);
        }
    }

    /// Adds a comparison, with one value or with a row of them.
    fn and<const N: usize>(&mut self, compared: &str, with: [SqlValue<'a>; N]) {
        let first = self.values.len() + 1;
        let names: Vec<_> = (first..first + N).map(|number| format!("${number}")).collect();
        let _ = write!(self.sql, " AND {compared} ({})", names.join(", "));
        self.values.extend(with);
    }
}
