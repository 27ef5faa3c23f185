//! Leave to run a call cannot be forged outside the core: these programs do not compile.
//!
//! To Rust a crate is either the core or outside of it, so what holds here holds for every crate above.
//! This is the one above that compiles quickest. Which of them may name the seal is another test's: it
//! reads the table `may-use` in the root manifest.

#[test]
fn forging_leave_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/sealed/*.rs");
}
