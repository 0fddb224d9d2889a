//! What must not compile: facts from content, sections without bytes, names that nobody checked.

use std::str::FromStr;

use cantus_compose::{Content, Package, Settings, Status};
use cantus_manifest::Facts;
use cantus_memory::{Corpus, Note, Web};
use cantus_workspace::{Config, Options, Project};

/// Doesn't compile if the type has one of the traits: then there are two answers to what the marker is.
macro_rules! assert_lacks {
    ($type:ty: $($bound:path),+ $(,)?) => {$({
        trait Marked<A> {
            fn marker() {}
        }
        struct Has;
        impl<T: ?Sized> Marked<()> for T {}
        impl<T: ?Sized + $bound> Marked<Has> for T {}
        <$type as Marked<_>>::marker();
    })+};
}

#[test]
fn what_must_not_be_written_down_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}

#[test]
fn facts_are_converted_from_nothing() {
    assert_lacks!(Facts: Default, FromStr, TryFrom<String>, TryFrom<&'static str>);
    assert_lacks!(Facts: TryFrom<Note>, TryFrom<Web>, TryFrom<Corpus>, TryFrom<Package>, TryFrom<Settings>);
    assert_lacks!(Facts: TryFrom<Config>, TryFrom<Options>, TryFrom<Project>);
}

#[test]
fn bytes_of_a_section_are_made_once_and_not_from_text() {
    assert_lacks!(Content: Default, Clone, TryFrom<String>, TryFrom<&'static str>);
    assert_lacks!(Status: Default, TryFrom<String>);
}
