//! Nobody but the core writes a permit out, whatever its terms say.

use countersign_core::{Permit, PermitTerms};

fn forge(terms: PermitTerms) -> Permit {
    Permit(terms)
}

fn main() {}
