//! What a render depends on, as one name.

use cantus_compose::{COMPILER_VERSION, Package};
use cantus_manifest::{Actor, Digest, Facts, Mode};
use serde::Serialize;

use crate::entry::FORMAT;

/// Which project a render is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Named<'a> {
    /// The one of this name.
    Given(&'a str),
    /// The one that the configuration names, if it names one.
    Configured,
    /// None.
    Nameless,
}

/// All that a render was asked for which can change its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Actor, mode and provider count.
    pub facts: &'a Facts,
    /// The project.
    pub named: Named<'a>,
    /// The package's folder as the caller names it, which findings repeat.
    pub package: Option<&'a str>,
    /// Whether, and from where, there is a home layer.
    pub home: Option<&'a str>,
}

#[derive(Serialize)]
struct Parts<'a> {
    format: u32,
    compiler: Compiler,
    built_in: Digest,
    actor: Actor,
    mode: Mode,
    provider: &'a str,
    project: Named<'a>,
    package: Option<&'a str>,
    home: Option<&'a str>,
    inputs: &'a Digest,
}

#[derive(Serialize)]
struct Compiler {
    version: u32,
    release: &'static str,
}

impl Asked<'_> {
    /// The name of this render of the sources with the digest `inputs`.
    ///
    /// Width, title and every other setting stand in configuration files, and a package's name and version in its own: they
    /// are part of `inputs`.
    #[must_use]
    pub fn key(&self, inputs: &Digest) -> Digest {
        let parts = Parts {
            format: FORMAT,
            compiler: Compiler { version: COMPILER_VERSION, release: env!("CARGO_PKG_VERSION") },
            built_in: Package::built_in_digest(),
            actor: self.facts.actor(),
            mode: self.facts.mode(),
            provider: self.facts.provider().as_str(),
            project: self.named,
            package: self.package,
            home: self.home,
            inputs,
        };
        // The order of the fields is that of the type.
        Digest::of(serde_json::to_string(&parts).unwrap_or_default())
    }
}
