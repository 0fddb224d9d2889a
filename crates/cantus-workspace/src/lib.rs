//! Finds and reads a Cantus project.
