//! Permits: leave to run one call, once.
//!
//! There are two. A [`Permit`] comes from a start that the store has committed. A [`RemotePermit`] is
//! what a client runs on, on the word of its server. Both give the same [`PermitTerms`].

use std::ops::Deref;

use countersign_seal::{CommittedWrite, ServerSignal};

use super::{ApprovedBy, Execution, OutsideFile};
use crate::shell::CanonicalCommandLine;
use crate::{ApprovalId, Digest, Effect, Preimage, Preview, ToolCall};

/// What a permit gives leave for.
// INVARIANT: cannot be made outside this module, nor copied or changed at all.
#[derive(Debug)]
pub struct PermitTerms {
    approval: ApprovalId,
    call: ToolCall,
    effects: Vec<Effect>,
    outside: Vec<OutsideFile>,
    preimages: Vec<Preimage>,
    rehearsal: Option<Digest>,
    canonical: Option<CanonicalCommandLine>,
}

impl PermitTerms {
    /// Returns what an approved execution may do when it starts.
    pub(super) fn for_start(approved: &Execution, by: &ApprovedBy) -> Self {
        let preimages = approved.preview.as_ref().map(Preview::preimages).unwrap_or_default();
        Self {
            approval: approved.id,
            call: approved.call.clone(),
            effects: approved.effects.clone(),
            outside: approved.permitted_outside_files(by),
            preimages: preimages.to_vec(),
            rehearsal: approved.kept_rehearsal().cloned(),
            canonical: approved.canonical.clone().filter(|_| *by == ApprovedBy::Policy),
        }
    }

    /// Returns the approval it was earned by.
    pub fn approval(&self) -> ApprovalId {
        self.approval
    }

    /// Returns the call as it may run.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// Returns what the call was judged to do. It runs only while that is still what it would do.
    pub fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// Returns which files outside the workspace may be written because somebody said yes to just that.
    pub fn outside_files(&self) -> &[OutsideFile] {
        &self.outside
    }

    /// Returns the files the decision was bound to. A tool refuses to touch one that has changed.
    pub fn preimages(&self) -> &[Preimage] {
        &self.preimages
    }

    /// Returns what is to be executed in the place of the command's text: nobody was asked about that.
    ///
    /// None where somebody approved the text as it is, and where the call runs no command.
    pub fn canonical(&self) -> Option<&CanonicalCommandLine> {
        self.canonical.as_ref()
    }

    /// Returns the digest of the rehearsal that is to be kept instead of running the call.
    pub fn rehearsal(&self) -> Option<&Digest> {
        self.rehearsal.as_ref()
    }
}

/// An execution that has started, before anybody knows whether that is on disk.
// INVARIANT: not `Clone`: one start yields one permit.
#[derive(Debug)]
pub struct StartedExecution {
    execution: Execution,
    terms: PermitTerms,
}

impl StartedExecution {
    pub(super) fn new(execution: Execution, terms: PermitTerms) -> Self {
        Self { execution, terms }
    }

    /// Returns the execution to be written, in the state `Executing`.
    pub fn execution(&self) -> &Execution {
        &self.execution
    }
}

impl AsRef<Execution> for StartedExecution {
    fn as_ref(&self) -> &Execution {
        &self.execution
    }
}

/// Leave to run one call here, once: its start is on disk.
#[derive(Debug)]
pub struct Permit(PermitTerms);

impl Permit {
    /// Returns the permit that a committed start has earned. There is no other way to get one.
    pub fn from_committed(started: CommittedWrite<StartedExecution>) -> Self {
        Self(started.into_inner().terms)
    }
}

/// A call that a server has lent to this client, as it arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalledCall {
    /// The approval it was lent on.
    pub approval: ApprovalId,
    /// The call, with the client's own folder.
    pub call: ToolCall,
    /// The files that were shown to whoever decided.
    pub preimages: Vec<Preimage>,
}

/// Leave to run one call on a client, once, on the word of its server.
#[derive(Debug)]
pub struct RemotePermit(PermitTerms);

impl RemotePermit {
    /// Returns the permit for a call that the server has lent to this client, which found that the call
    /// would have these effects here.
    pub fn from_signal(signal: ServerSignal<SignalledCall>, effects: Vec<Effect>) -> Self {
        let SignalledCall { approval, call, preimages } = signal.into_inner();
        Self(PermitTerms {
            approval,
            call,
            effects,
            preimages,
            // Nobody told this client of a file outside its workspace, a rehearsal or another text.
            outside: Vec::new(),
            rehearsal: None,
            canonical: None,
        })
    }
}

/// A permit, given by this gate or by that of a server. A tool runs on either.
pub trait CallPermit: Deref<Target = PermitTerms> + Send + 'static {
    /// Uses the permit up.
    fn into_terms(self) -> PermitTerms;
}

impl CallPermit for Permit {
    fn into_terms(self) -> PermitTerms {
        self.0
    }
}

impl CallPermit for RemotePermit {
    fn into_terms(self) -> PermitTerms {
        self.0
    }
}

impl Deref for Permit {
    type Target = PermitTerms;

    fn deref(&self) -> &PermitTerms {
        &self.0
    }
}

impl Deref for RemotePermit {
    type Target = PermitTerms;

    fn deref(&self) -> &PermitTerms {
        &self.0
    }
}
