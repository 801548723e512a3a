//! One copy of everything that many objects have in common.

use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::model::{ClaimSpec, DeviceContent, Name};

/// Shares equal names, device contents and claim specifications between decoded objects.
///
/// A hundred thousand devices are mostly a few dozen models; without this they take ten times
/// the memory, and selectors could not be evaluated once per content.
#[derive(Debug, Default)]
pub struct Interner {
    names: FxHashSet<Arc<str>>,
    contents: FxHashSet<Arc<DeviceContent>>,
    specs: FxHashSet<Arc<ClaimSpec>>,
}

impl Interner {
    /// The name, shared.
    pub fn name(&mut self, text: &str) -> Name {
        Name::from(self.text(text))
    }

    /// The text, shared.
    pub fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(shared) = self.names.get(text) {
            return Arc::clone(shared);
        }
        let shared: Arc<str> = Arc::from(text);
        self.names.insert(Arc::clone(&shared));
        shared
    }

    /// The content, shared by all devices that have it.
    pub fn content(&mut self, content: DeviceContent) -> Arc<DeviceContent> {
        share(&mut self.contents, content)
    }

    /// The specification, shared by all claims of one template.
    pub fn spec(&mut self, spec: ClaimSpec) -> Arc<ClaimSpec> {
        share(&mut self.specs, spec)
    }

    /// Forgets what nobody else uses any more. For a process that lives long.
    pub fn sweep(&mut self) {
        self.contents.retain(|shared| Arc::strong_count(shared) > 1);
        self.specs.retain(|shared| Arc::strong_count(shared) > 1);
        self.names.retain(|shared| Arc::strong_count(shared) > 1);
    }
}

fn share<T: Eq + Hash>(known: &mut FxHashSet<Arc<T>>, value: T) -> Arc<T> {
    if let Some(shared) = known.get(&value) {
        return Arc::clone(shared);
    }
    let shared = Arc::new(value);
    known.insert(Arc::clone(&shared));
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_become_one() {
        let mut interner = Interner::default();
        let first = interner.content(DeviceContent::default());
        let second = interner.content(DeviceContent::default());
        assert!(Arc::ptr_eq(&first, &second));
        assert!(Arc::ptr_eq(&interner.text("n1"), &interner.text("n1")));
    }

    #[test]
    fn sweeping_keeps_only_what_is_used() {
        let mut interner = Interner::default();
        let kept = interner.name("kept");
        drop(interner.name("dropped"));
        interner.sweep();
        assert_eq!(interner.names.len(), 1);
        assert_eq!(kept, "kept");
    }
}
