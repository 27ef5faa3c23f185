//! Why a call got no answer at the gate.

use countersign_gate::GateError;

/// Why a call got no answer at the gate.
pub(crate) enum CallError {
    /// The run is left as it stands, and so is the call.
    Suspended,
    /// It could not be recorded.
    Gate(GateError),
}

impl From<GateError> for CallError {
    fn from(error: GateError) -> Self {
        Self::Gate(error)
    }
}
