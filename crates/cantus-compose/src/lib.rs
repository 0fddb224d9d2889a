//! Notes, package and facts to a bundle.
