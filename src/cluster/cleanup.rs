//! Writes that make room for another attempt: devices that are out of reach are given back, and a
//! left-over claim for extended resources is deleted.

use std::sync::Arc;

use super::api::{RequestError, Server};
use super::edit;
use super::untyped::Untyped;
use crate::model::ClaimKey;

/// Takes the devices from a claim, unless it changed since it was looked at.
///
/// # Errors
/// The request that failed.
pub async fn deallocate(
    server: &Server,
    key: &ClaimKey,
    claim: &Arc<Untyped>,
) -> Result<Untyped, RequestError> {
    let mut json = claim.json().clone();
    edit::deallocate(&mut json);
    server.put_claim_status(key, &Untyped::new(json)).await
}

/// Deletes a claim that this scheduler made: its finalizer first, or it would stay.
///
/// # Errors
/// The request that failed.
pub async fn delete_claim(server: &Server, key: &ClaimKey) -> Result<(), RequestError> {
    let claim = server.claim(key).await?;
    let uid = claim.uid().to_owned();
    let mut json = claim.into_json();
    edit::remove_finalizer(&mut json);
    server.put_claim(key, &Untyped::new(json)).await?;
    server.delete_claim(key, &uid).await
}
