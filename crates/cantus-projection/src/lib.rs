//! Committed instruction files: plan, check, apply.
