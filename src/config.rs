//! Validated settings.
