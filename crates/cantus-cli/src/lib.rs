//! The cantus command: verbs, reports, exit codes.
