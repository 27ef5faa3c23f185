//! New ids.

use uuid::Uuid;

/// Returns a new id: unique, and sorted by when it was made.
pub fn new_id<T: From<Uuid>>() -> T {
    Uuid::now_v7().into()
}
