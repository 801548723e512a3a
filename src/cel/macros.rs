//! Macros: calls that stand for loops and bindings (cel-go's `parser/macro.go`, `cel/library.go`,
//! `ext/bindings.go`, `ext/comprehensions.go` and `ext/lists.go`).

use std::sync::Arc;

use super::ast::{ACCUMULATOR, Comprehension, Expr, ExprId, Literal};
use super::parser::Parser;

/// What a call stands for, if it is a macro. A misused macro is reported.
pub(super) fn expand(
    parser: &mut Parser<'_>,
    name: &str,
    target: Option<ExprId>,
    args: &[ExprId],
    offset: usize,
) -> Option<ExprId> {
    let mut builder = Builder { parser, offset };
    let Some(target) = target else {
        return (name == "has" && args.len() == 1).then(|| builder.has(args[0]));
    };
    Some(match (name, args) {
        ("all", [variables @ .., body]) if matches!(variables.len(), 1 | 2) => {
            builder.fold(target, variables, *body, Fold::All)
        }
        ("exists", [variables @ .., body]) if matches!(variables.len(), 1 | 2) => {
            builder.fold(target, variables, *body, Fold::Exists)
        }
        ("exists_one", [variable, body]) => builder.fold(target, &[*variable], *body, Fold::ExistsOne),
        ("exists_one" | "existsOne", [key, value, body]) => {
            builder.fold(target, &[*key, *value], *body, Fold::ExistsOne)
        }
        ("map", [variable, body]) => builder.list(target, &[*variable], None, *body),
        ("map", [variable, filter, body]) => builder.list(target, &[*variable], Some(*filter), *body),
        ("filter", [variable, filter]) => builder.list(target, &[*variable], Some(*filter), *variable),
        ("transformList", [key, value, body]) => builder.list(target, &[*key, *value], None, *body),
        ("transformList", [key, value, filter, body]) => {
            builder.list(target, &[*key, *value], Some(*filter), *body)
        }
        ("transformMap" | "transformMapEntry", [key, value, body]) => {
            builder.map(target, [*key, *value], None, *body, name)
        }
        ("transformMap" | "transformMapEntry", [key, value, filter, body]) => {
            builder.map(target, [*key, *value], Some(*filter), *body, name)
        }
        ("optMap" | "optFlatMap", [variable, body]) => builder.optional(target, *variable, *body, name),
        ("sortBy", [variable, key]) => builder.sort_by(target, *variable, *key),
        ("bind", [variable, init, body]) if builder.is_cel(target) => builder.bind(*variable, *init, *body),
        _ => return None,
    })
}

/// How cel-go named the accumulator once. It is still reserved.
const OLD_ACCUMULATOR: &str = "__result__";

#[derive(Clone, Copy)]
enum Fold {
    All,
    Exists,
    ExistsOne,
}

/// Adds the nodes of an expansion, all at the place of the macro's opening parenthesis.
struct Builder<'p, 's> {
    parser: &'p mut Parser<'s>,
    offset: usize,
}

impl Builder<'_, '_> {
    fn add(&mut self, expr: Expr) -> ExprId {
        self.parser.ast.add(expr, self.offset)
    }

    fn literal(&mut self, literal: Literal) -> ExprId {
        self.add(Expr::Literal(literal))
    }

    fn ident(&mut self, name: &str) -> ExprId {
        self.add(Expr::Ident(Arc::from(name)))
    }

    fn call(&mut self, function: &str, args: Vec<ExprId>) -> ExprId {
        self.parser.call(function, None, args, self.offset)
    }

    fn member(&mut self, function: &str, target: ExprId) -> ExprId {
        self.parser.call(function, Some(target), Vec::new(), self.offset)
    }

    /// Reports a misuse. The node stands in for the expansion, which is never looked at.
    fn misuse(&mut self, at: ExprId, message: &str) -> ExprId {
        let offset = self.parser.ast.offset(at);
        self.parser.report(offset, message);
        at
    }

    fn has(&mut self, arg: ExprId) -> ExprId {
        match self.parser.ast.expr(arg).clone() {
            Expr::Select { operand, field, test: false } => {
                self.add(Expr::Select { operand, field, test: true })
            }
            _ => self.misuse(arg, "invalid argument to has() macro"),
        }
    }

    fn simple_name(&self, arg: ExprId) -> Option<Arc<str>> {
        match self.parser.ast.expr(arg) {
            Expr::Ident(name) => Some(Arc::clone(name)),
            _ => None,
        }
    }

    /// The name of a bound variable. With a leading dot it is never found again.
    fn bound_name(&mut self, arg: ExprId, complaint: &str) -> Result<Arc<str>, ExprId> {
        match self.simple_name(arg) {
            Some(name) if name.starts_with('.') => {
                self.parser
                    .report(self.offset, format!("undeclared reference to '{name}' (in container '')"));
                Err(arg)
            }
            Some(name) => Ok(name),
            None => Err(self.misuse(arg, complaint)),
        }
    }

    /// The names of one or two iteration variables.
    fn variables(
        &mut self,
        args: &[ExprId],
        complaint: &str,
    ) -> Result<(Arc<str>, Option<Arc<str>>), ExprId> {
        let mut names = Vec::with_capacity(2);
        for arg in args {
            match self.simple_name(*arg) {
                Some(name) => names.push(name),
                None => return Err(self.misuse(*arg, complaint)),
            }
        }
        let second = names.get(1).cloned();
        let first = names.swap_remove(0);
        if second.as_ref() == Some(&first) {
            return Err(self.misuse(args[1], &format!("duplicate variable name: {first}")));
        }
        let reserved = [Some(&first), second.as_ref()]
            .iter()
            .position(|name| name.is_some_and(|name| **name == *OLD_ACCUMULATOR));
        if let Some(at) = reserved {
            return Err(self.misuse(args[at], "iteration variable overwrites accumulator variable"));
        }
        Ok((first, second))
    }

    fn comprehension(
        &mut self,
        range: ExprId,
        (variable, variable2): (Arc<str>, Option<Arc<str>>),
        [init, condition, step, result]: [ExprId; 4],
    ) -> ExprId {
        let loops = Comprehension { range, variable, variable2, init, condition, step, result };
        self.add(Expr::Comprehension(Box::new(loops)))
    }

    fn fold(&mut self, range: ExprId, variables: &[ExprId], body: ExprId, kind: Fold) -> ExprId {
        let variables = match self.variables(variables, "argument must be a simple name") {
            Ok(variables) => variables,
            Err(misuse) => return misuse,
        };
        let accumulator = self.ident(ACCUMULATOR);
        let (init, condition, step) = match kind {
            Fold::All => {
                let condition = self.call("@not_strictly_false", vec![accumulator]);
                let accumulator = self.ident(ACCUMULATOR);
                (Literal::Bool(true), condition, self.call("_&&_", vec![accumulator, body]))
            }
            Fold::Exists => {
                let negated = self.call("!_", vec![accumulator]);
                let condition = self.call("@not_strictly_false", vec![negated]);
                let accumulator = self.ident(ACCUMULATOR);
                (Literal::Bool(false), condition, self.call("_||_", vec![accumulator, body]))
            }
            Fold::ExistsOne => {
                let one = self.literal(Literal::Int(1));
                let more = self.call("_+_", vec![accumulator, one]);
                let same = self.ident(ACCUMULATOR);
                let condition = self.literal(Literal::Bool(true));
                (Literal::Int(0), condition, self.call("_?_:_", vec![body, more, same]))
            }
        };
        let init = self.literal(init);
        let mut result = self.ident(ACCUMULATOR);
        if matches!(kind, Fold::ExistsOne) {
            let one = self.literal(Literal::Int(1));
            result = self.call("_==_", vec![result, one]);
        }
        self.comprehension(range, variables, [init, condition, step, result])
    }

    /// A loop that builds a list or map: each round the accumulator becomes `grown`, if `filter`.
    fn build(
        &mut self,
        range: ExprId,
        variables: &[ExprId],
        filter: Option<ExprId>,
        init: Expr,
        grown: impl FnOnce(&mut Self, ExprId, &str) -> ExprId,
    ) -> ExprId {
        let complaint = match variables {
            [_] => "argument is not an identifier",
            _ => "argument must be a simple name",
        };
        let variables = match self.variables(variables, complaint) {
            Ok(variables) => variables,
            Err(misuse) => return misuse,
        };
        let accumulator = self.ident(ACCUMULATOR);
        let mut step = grown(self, accumulator, &variables.0);
        if let Some(filter) = filter {
            let same = self.ident(ACCUMULATOR);
            step = self.call("_?_:_", vec![filter, step, same]);
        }
        let init = self.add(init);
        let condition = self.literal(Literal::Bool(true));
        let result = self.ident(ACCUMULATOR);
        self.comprehension(range, variables, [init, condition, step, result])
    }

    fn list(&mut self, range: ExprId, variables: &[ExprId], filter: Option<ExprId>, body: ExprId) -> ExprId {
        self.build(range, variables, filter, Expr::List(Box::default()), |this, accumulator, _| {
            let element = this.add(Expr::List(Box::new([(body, false)])));
            this.call("_+_", vec![accumulator, element])
        })
    }

    fn map(
        &mut self,
        range: ExprId,
        variables: [ExprId; 2],
        filter: Option<ExprId>,
        body: ExprId,
        name: &str,
    ) -> ExprId {
        self.build(range, &variables, filter, Expr::Map(Box::default()), |this, accumulator, key| {
            let mut args = vec![accumulator];
            if name == "transformMap" {
                args.push(this.ident(key));
            }
            args.push(body);
            this.call("cel.@mapInsert", args)
        })
    }

    fn is_cel(&self, target: ExprId) -> bool {
        matches!(self.parser.ast.expr(target), Expr::Ident(name) if &**name == "cel")
    }

    fn bind(&mut self, variable: ExprId, init: ExprId, body: ExprId) -> ExprId {
        match self.bound_name(variable, "cel.bind() variable names must be simple identifiers") {
            Ok(variable) => self.add(Expr::Bind { variable, init, body }),
            Err(misuse) => misuse,
        }
    }

    fn optional(&mut self, target: ExprId, variable: ExprId, body: ExprId, name: &str) -> ExprId {
        let complaint = format!("{name}() variable name must be a simple identifier");
        let bound = match self.bound_name(variable, &complaint) {
            Ok(bound) => bound,
            Err(misuse) => return misuse,
        };
        let present = self.member("hasValue", target);
        let value = self.member("value", target);
        let mut then = self.add(Expr::Bind { variable: bound, init: value, body });
        if name == "optMap" {
            then = self.call("optional.of", vec![then]);
        }
        let none = self.call("optional.none", Vec::new());
        self.call("_?_:_", vec![present, then, none])
    }

    fn sort_by(&mut self, target: ExprId, variable: ExprId, key: ExprId) -> ExprId {
        const INPUT: &str = "@__sortBy_input__";
        if matches!(self.parser.ast.expr(target), Expr::Literal(_) | Expr::Map(_) | Expr::Struct(_)) {
            let message =
                "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
            return self.misuse(target, message);
        }
        let input = self.ident(INPUT);
        let keys = self.list(input, &[variable], None, key);
        let input = self.ident(INPUT);
        let call = self.parser.call("@sortByAssociatedKeys", Some(input), vec![keys], self.offset);
        self.add(Expr::Bind { variable: Arc::from(INPUT), init: target, body: call })
    }
}
