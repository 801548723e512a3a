//! The syntax tree: nodes in one vector, children before parents, so that a tree of any depth is
//! walked, dropped and copied without recursion.

use std::sync::Arc;

/// The place of a node in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExprId(u32);

impl ExprId {
    /// The index into a table with an entry for each node.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A constant of the source text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Literal(Literal),
    Ident(Arc<str>),
    /// `operand.field`, or `has(operand.field)` if `test`.
    Select {
        operand: ExprId,
        field: Arc<str>,
        test: bool,
    },
    /// A function or operator, by cel-go's name for it. `&&` and `||` have two arguments or more.
    Call {
        function: Arc<str>,
        target: Option<ExprId>,
        args: Box<[ExprId]>,
    },
    /// Each element with whether it is written `?element`.
    List(Box<[(ExprId, bool)]>),
    /// Key, value, and whether the entry is written `?key: value`.
    Map(Box<[(ExprId, ExprId, bool)]>),
    /// `Name{..}`, of which the environment has no type.
    Struct(Arc<str>),
    /// A loop that a macro stands for.
    Comprehension(Box<Comprehension>),
    /// `cel.bind` and what is built on it: `variable` is evaluated when `body` first asks for it.
    Bind {
        variable: Arc<str>,
        init: ExprId,
        body: ExprId,
    },
}

/// A fold over a list or map: `accu` starts as `init`; while `condition`, it becomes `step`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Comprehension {
    pub(super) range: ExprId,
    pub(super) variable: Arc<str>,
    /// The second variable, for the value, if the first is for the key or index.
    pub(super) variable2: Option<Arc<str>>,
    pub(super) init: ExprId,
    pub(super) condition: ExprId,
    pub(super) step: ExprId,
    pub(super) result: ExprId,
}

/// The accumulator's name, which no source text can spell.
pub(super) const ACCUMULATOR: &str = "@result";

/// A tree in the making or done.
#[derive(Clone, Debug, Default)]
pub(super) struct Ast {
    nodes: Vec<(Expr, u32)>,
}

impl Ast {
    /// Adds a node that stands at a byte offset of the source.
    pub(super) fn add(&mut self, expr: Expr, offset: usize) -> ExprId {
        let id = ExprId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push((expr, u32::try_from(offset).unwrap_or(u32::MAX)));
        id
    }

    /// A node.
    pub(super) fn expr(&self, id: ExprId) -> &Expr {
        &self.nodes[id.index()].0
    }

    /// Where a node stands, in bytes.
    pub(super) fn offset(&self, id: ExprId) -> usize {
        self.nodes[id.index()].1 as usize
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// `a.b.c` of nothing but identifiers, as one name.
    pub(super) fn qualified_name(&self, id: ExprId) -> Option<String> {
        let mut parts = Vec::new();
        let mut at = id;
        loop {
            match self.expr(at) {
                Expr::Ident(name) => {
                    parts.push(&**name);
                    parts.reverse();
                    return Some(parts.join("."));
                }
                Expr::Select { operand, field, test: false } => {
                    parts.push(field);
                    at = *operand;
                }
                _ => return None,
            }
        }
    }
}
