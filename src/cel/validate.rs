//! What upstream finds out about literals once the types are right: mixed lists and maps, patterns,
//! format strings (cel-go's `cel/validator.go` and `ext/formatting.go`).

use std::sync::Arc;

use super::ast::{Ast, Expr, ExprId, Literal};
use super::checker::{Checked, Reference};
use super::cost::{COST_LIMIT, Meter};
use super::functions::Function;
use super::library;
use super::parser::Finding;
use super::types::Type;
use super::value::Value;

/// How many nodes are visited before those that were are left out.
const VISITS_MAX: usize = 10_000;

/// Whatever is wrong with literals below `root`.
pub(super) fn validate(ast: &Ast, root: ExprId, checked: &Checked) -> Vec<Finding> {
    let mut validator = Validator { ast, checked, findings: Vec::new() };
    let mut seen = vec![false; ast.len()];
    let mut visits = 0;
    let mut tasks = vec![(root, false)];
    while let Some((id, exempt)) = tasks.pop() {
        visits += 1;
        // Upstream tells of a node that a macro repeats each time, but they may double.
        if std::mem::replace(&mut seen[id.index()], true) && visits > VISITS_MAX {
            continue;
        }
        validator.node(id, exempt);
        let exempt = exempt || validator.called(id) == Some(Function::Format);
        push_children(ast, id, |child| tasks.push((child, exempt)));
    }
    validator.findings
}

fn push_children(ast: &Ast, id: ExprId, mut push: impl FnMut(ExprId)) {
    match ast.expr(id) {
        Expr::Literal(_) | Expr::Ident(_) | Expr::Struct(_) => {}
        Expr::Select { operand, .. } => push(*operand),
        Expr::Call { target, args, .. } => target.iter().chain(args).for_each(|id| push(*id)),
        Expr::List(elements) => elements.iter().for_each(|(id, _)| push(*id)),
        Expr::Map(entries) => entries.iter().for_each(|(key, value, _)| {
            push(*key);
            push(*value);
        }),
        Expr::Comprehension(loops) => {
            [loops.range, loops.init, loops.condition, loops.step, loops.result].into_iter().for_each(push);
        }
        Expr::Bind { init, body, .. } => [*init, *body].into_iter().for_each(push),
    }
}

struct Validator<'v> {
    ast: &'v Ast,
    checked: &'v Checked,
    findings: Vec<Finding>,
}

impl Validator<'_> {
    fn called(&self, id: ExprId) -> Option<Function> {
        match &self.checked.references[id.index()] {
            Reference::Call { function, .. } => Some(*function),
            _ => None,
        }
    }

    fn report(&mut self, at: ExprId, message: String) {
        self.findings.push(Finding { offset: Some(self.ast.offset(at)), message });
    }

    fn type_of(&self, id: ExprId, optional: bool) -> Type {
        let ty = self.checked.types[id.index()].clone().unwrap_or(Type::Dyn);
        if optional { ty.unwrap_optional().0.clone() } else { ty }
    }

    fn node(&mut self, id: ExprId, exempt: bool) {
        match self.ast.expr(id) {
            Expr::List(elements) if !exempt => self.homogeneous(elements, true),
            Expr::Map(entries) if !exempt => {
                let keys: Vec<_> = entries.iter().map(|(key, ..)| (*key, false)).collect();
                let values: Vec<_> = entries.iter().map(|(_, value, optional)| (*value, *optional)).collect();
                self.homogeneous(&keys, false);
                self.homogeneous(&values, false);
            }
            Expr::Call { target, args, .. } => match self.called(id) {
                Some(Function::Matches) => self.pattern(args),
                Some(Function::Format) => self.format(id, *target, args),
                Some(function @ (Function::ToDuration | Function::ToTimestamp)) => self.time(function, args),
                _ => {}
            },
            _ => {}
        }
    }

    /// All of the same type as the first; `once`: only the first that differs is reported.
    fn homogeneous(&mut self, elements: &[(ExprId, bool)], once: bool) {
        let Some((first, rest)) = elements.split_first() else { return };
        let wanted = self.type_of(first.0, first.1);
        for (id, optional) in rest {
            let found = self.type_of(*id, *optional);
            if found != wanted {
                self.report(*id, format!("expected type '{wanted}' but found '{found}'"));
                if once {
                    return;
                }
            }
        }
    }

    /// A literal duration or timestamp.
    fn time(&mut self, function: Function, args: &[ExprId]) {
        let Some(arg) = args.first() else { return };
        let literal = match self.ast.expr(*arg) {
            Expr::Literal(Literal::String(text)) => Value::text(Arc::clone(text)),
            Expr::Literal(Literal::Int(value)) => Value::Int(*value),
            _ => return,
        };
        if library::call(function, None, &[literal], &mut Meter::new(COST_LIMIT)).is_err() {
            self.report(*arg, format!("invalid {} argument", function.name()));
        }
    }

    fn pattern(&mut self, args: &[ExprId]) {
        let Some(arg) = args.first() else { return };
        if let Expr::Literal(Literal::String(pattern)) = self.ast.expr(*arg)
            && library::pattern::compile(pattern).is_err()
        {
            self.report(*arg, "invalid matches argument".to_owned());
        }
    }

    fn format(&mut self, call: ExprId, target: Option<ExprId>, args: &[ExprId]) {
        let Some(Expr::Literal(Literal::String(format))) = target.map(|target| self.ast.expr(target)) else {
            return;
        };
        let [list] = args else { return };
        let Expr::List(elements) = self.ast.expr(*list) else { return };
        let fault = |verb, at: usize| {
            elements
                .get(at)
                .and_then(|(id, _)| self.unformattable(verb, *id))
                .map(|id| (id, self.type_of(id, false)))
        };
        if let Err((place, message)) = library::format::check(format, elements.len(), fault) {
            self.report(place.unwrap_or(call), message);
        }
    }

    /// The first part of an argument that a clause does not take. `%s` takes literals part by part.
    fn unformattable(&self, verb: char, argument: ExprId) -> Option<ExprId> {
        let mut todo = vec![argument];
        while let Some(id) = todo.pop() {
            if !library::format::takes(verb, &self.type_of(id, false)) {
                return Some(id);
            }
            match self.ast.expr(id) {
                Expr::List(elements) if verb == 's' => todo.extend(elements.iter().rev().map(|(id, _)| *id)),
                Expr::Map(entries) if verb == 's' => {
                    todo.extend(entries.iter().rev().flat_map(|(key, value, _)| [*value, *key]));
                }
                _ => {}
            }
        }
        None
    }
}
