//! What the loop of `countersign client` hears.

use countersign_api::received::ReceivedApprovalRequest;
use countersign_client::{DecisionReply, StreamUpdate};
use countersign_core::ApprovalId;

/// Something that happened, for the loop.
#[derive(Debug)]
pub(crate) enum ClientMessage {
    Stream(StreamUpdate),
    /// Everything that waits at the server, and what we knew of when it was asked.
    Pending {
        requests: Vec<ReceivedApprovalRequest>,
        known: Vec<ApprovalId>,
    },
    Typed(String),
    NoKeyboard,
    /// The token's role is not one that decides.
    MayNotDecide,
    /// A card has been there for a moment.
    Glanced(ApprovalId),
    Answered(ApprovalId, DecisionReply),
}
