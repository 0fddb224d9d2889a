//! What a bundle costs.
