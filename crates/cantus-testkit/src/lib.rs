//! Fixtures and temporary repositories for the tests of Cantus.
