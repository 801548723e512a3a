//! Node selectors.

use super::{Interner, Result, name, names, text};
use crate::k8s::field::Field;
use crate::model::selection::{Requirement, SelectorOperator};
use crate::model::{NodeSelector, NodeSelectorTerm};

/// A `core/v1 NodeSelector`, if the field is there.
pub(super) fn node_selector(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Option<NodeSelector>> {
    if !field.is_set() {
        return Ok(None);
    }
    let terms = field.child("nodeSelectorTerms");
    let terms = terms.items().map(|term| node_selector_term(&term, interner)).collect::<Result<_>>()?;
    Ok(Some(NodeSelector { terms }))
}

/// One term of a node selector.
pub(super) fn node_selector_term(field: &Field<'_, '_>, interner: &mut Interner) -> Result<NodeSelectorTerm> {
    Ok(NodeSelectorTerm {
        match_expressions: requirements(&field.child("matchExpressions"), interner)?,
        match_fields: requirements(&field.child("matchFields"), interner)?,
    })
}

fn requirements(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Box<[Requirement]>> {
    let requirement = |item: Field<'_, '_>| {
        Ok(Requirement {
            key: name(&item.child("key"), interner)?,
            operator: SelectorOperator::parse(text(&item.child("operator"))?.unwrap_or_default()),
            values: names(&item.child("values"), interner)?,
        })
    };
    field.items().map(requirement).collect()
}
