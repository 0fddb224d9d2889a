//! An excluded section has its reason.

use cantus_compose::Status;

fn main() {
    let _ = Status::Excluded {};
}
