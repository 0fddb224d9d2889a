//! Paths, ids, digests and providers are made by what checks them.

use cantus_manifest::{Digest, Provider, RelPath, SectionId};

fn path() -> RelPath {
    RelPath("../outside".to_owned())
}

fn id() -> SectionId {
    SectionId("no layer".into())
}

fn digest() -> Digest {
    Digest([0; 32])
}

fn provider() -> Provider {
    Provider("9 x".to_owned())
}

fn changed(mut path: RelPath, mut id: SectionId, mut digest: Digest) {
    path.0.push_str("/..");
    id.0 = "no layer".into();
    digest.0[0] = 1;
}

fn converted(text: String) -> RelPath {
    text.into()
}

fn main() {}
