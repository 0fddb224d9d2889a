//! The manifest of a bundle that is only looked at.

use std::time::SystemTime;

use cantus_compose::preview;
use cantus_manifest::manifest::Manifest;

use crate::composer::Rendered;
use crate::time::rfc3339;

impl Rendered {
    /// The manifest of the bundle as it is looked at now, delivered to nobody.
    #[must_use]
    pub fn preview(&self) -> Manifest {
        let milliseconds = self.duration.as_secs_f64() * 1e3;
        let path = self.stored.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        self.manifest(preview(rfc3339(SystemTime::now()), milliseconds, self.cache), &path)
    }
}
