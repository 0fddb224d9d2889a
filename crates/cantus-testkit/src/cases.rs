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

/// What texts with a budget are put together from: letters of one to four bytes, marks that combine, wide ones, and what begins
/// and ends lines, paragraphs and fences.
pub const TEXT_PIECES: [&str; 20] = [
    "a",
    "word ",
    "é",
    "e\u{301}",
    "日本語",
    "🎼",
    "\u{200d}",
    "\n",
    "\n\n",
    "```\n",
    "~~~~ py\n",
    "  ```\n",
    "- ",
    "> ",
    "\n```\n",
    "\t",
    "\u{a0}",
    "# H\n",
    "x x x x x ",
    "\r\n",
];
