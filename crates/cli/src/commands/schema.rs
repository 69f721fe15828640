//! stub
use crate::failure::Failure;
/// stub
pub fn schema() -> Result<(), Failure> {
    todo!()
}
