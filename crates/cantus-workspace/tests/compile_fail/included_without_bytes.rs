//! An included section has bytes.

use cantus_compose::Status;

fn main() {
    let _: Status = Status::Included();
    let _: Status = Status::Included;
}
