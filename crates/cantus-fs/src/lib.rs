//! The only door of Cantus to the disk: read, list, atomic write, lock, containment.
