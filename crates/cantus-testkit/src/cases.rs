//! How many cases a property is tried with, and which.

use proptest::test_runner::{Config, RngSeed};

/// The same `count` cases in every run, unless `PROPTEST_CASES` or `PROPTEST_RNG_SEED` asks for others.
#[must_use]
pub fn cases(count: u32) -> Config {
    let asked = Config::default();
    Config {
        cases: if asked.cases == 256 { count } else { asked.cases },
        rng_seed: if asked.rng_seed == RngSeed::Random { RngSeed::Fixed(7) } else { asked.rng_seed },
        failure_persistence: None,
        ..asked
    }
}
