//! How big values are.

use super::path::{Path, Step};
use super::{Bounds, Entry, Estimator};
use crate::cel::ast::{Expr, ExprId, Literal};
use crate::cel::types::Type;

impl<'a> Estimator<'a> {
    pub(super) fn ty(&self, id: ExprId) -> &'a Type {
        self.checked.types[id.index()].as_ref().unwrap_or(&Type::Dyn)
    }

    /// The path of a variable.
    pub(super) fn ident(&mut self, name: &'a str) -> Option<Path> {
        match self.variable(name) {
            Some(at) => self.scope[at].path,
            None => Some(self.paths.start(Step::Name(self.global(name)))),
        }
    }

    /// The name of a global variable. A leading dot stays if a local one has the rest for a name.
    fn global(&self, name: &'a str) -> &'a str {
        match name.strip_prefix('.') {
            Some(rest) if self.variable(rest).is_none() => rest,
            _ => name,
        }
    }

    /// The innermost variable of a name.
    fn variable(&self, name: &str) -> Option<usize> {
        self.scope.iter().rposition(|variable| variable.name == name)
    }

    /// The variable in scope that a node names.
    fn variable_of(&self, id: ExprId) -> Option<usize> {
        match self.ast.expr(id) {
            Expr::Ident(name) => self.variable(name),
            _ => None,
        }
    }

    pub(super) fn path(&self, id: ExprId) -> Option<Path> {
        match self.variable_of(id) {
            Some(at) => self.scope[at].path,
            None => self.known[id.index()].path,
        }
    }

    /// The size of a node's value as far as it is known now. What the device declares is kept.
    pub(super) fn size(&mut self, id: ExprId) -> Option<Bounds> {
        if let Some(size) = self.known[id.index()].size.or_else(|| literal_size(self.ast.expr(id))) {
            return Some(size);
        }
        if let Some(size) = self.path(id).and_then(|path| self.paths.size(path)) {
            self.known[id.index()].size = Some(size);
            return Some(size);
        }
        if is_scalar(self.ty(id)) {
            return Some(Bounds::exactly(1));
        }
        self.variable_of(id).and_then(|at| self.scope[at].size)
    }

    pub(super) fn set_size(&mut self, id: ExprId, size: Option<Bounds>) {
        if size.is_some() {
            self.known[id.index()].size = size;
        }
    }

    /// The sizes of what is in a node's value.
    pub(super) fn entry(&self, id: ExprId) -> Option<Entry> {
        self.known[id.index()].entry.or_else(|| self.variable_of(id).and_then(|at| self.scope[at].entry))
    }

    pub(super) fn set_entry(&mut self, id: ExprId, entry: Option<Entry>) {
        if entry.is_some() {
            self.known[id.index()].entry = entry;
        }
    }

    pub(super) fn copy_sizes(&mut self, from: ExprId, to: ExprId) {
        let (size, entry) = (self.size(from), self.entry(from));
        self.set_size(to, size);
        self.set_entry(to, entry);
    }
}

/// What a literal says of its own size.
fn literal_size(expr: &Expr) -> Option<Bounds> {
    let size = match expr {
        Expr::Literal(Literal::String(text)) => text.chars().count(),
        Expr::Literal(Literal::Bytes(bytes)) => bytes.len(),
        Expr::Literal(_) => 1,
        Expr::List(elements) => elements.len(),
        Expr::Map(entries) => entries.len(),
        _ => return None,
    };
    Some(Bounds::exactly(size as u64))
}

/// Whether values of the type all have one size, which is 1.
fn is_scalar(mut ty: &Type) -> bool {
    while let Type::Optional(inner) = ty {
        ty = inner;
    }
    matches!(ty, Type::Bool | Type::Double | Type::Int | Type::Uint | Type::Duration | Type::Timestamp)
}
