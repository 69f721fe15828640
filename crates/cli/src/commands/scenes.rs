//! stub
use crate::failure::Failure;
/// stub
pub fn scenes() -> Result<(), Failure> {
    todo!()
}
