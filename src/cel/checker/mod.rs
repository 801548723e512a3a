//! Type-checks a tree and resolves its names (cel-go's `checker/checker.go`). Works off a stack of
//! tasks, so that no nesting of the input reaches the machine's stack.

mod names;

use std::sync::Arc;

use super::Environment;
use super::ast::{ACCUMULATOR, Ast, Comprehension, Expr, ExprId, Literal};
use super::functions::{Declaration, Function};
use super::parser::Finding;
use super::types::{Substitution, Type, at_most_as_specific};

/// What a node's name stands for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Reference {
    /// The node has no name.
    #[default]
    None,
    /// The variable `device`.
    Device,
    /// A variable of a macro, by its number.
    Local(usize),
    /// A type, used as a value.
    Type(Type),
    /// A function.
    Call {
        function: Function,
        /// cel-go's name of the signature, if only one can be meant.
        overload: Option<&'static str>,
        /// cel-go's names of all signatures that can be meant.
        overloads: Box<[&'static str]>,
        /// Whether the receiver is the first part of the function's name, and no value.
        namespaced: bool,
    },
    /// The variables of a loop: accumulator, first and second.
    Loop([usize; 3]),
    /// The variable of a binding.
    Bind(usize),
}

/// A tree that checks.
pub(super) struct Checked {
    /// By node, without variables. Nodes that nothing refers to have none.
    pub(super) types: Vec<Option<Type>>,
    /// By node.
    pub(super) references: Vec<Reference>,
    /// How many variables the macros declare.
    pub(super) locals: usize,
}

/// Why a tree does not check.
pub(super) enum Failure {
    Findings(Vec<Finding>),
    TooComplex,
}

/// The most types that one type may consist of; it could double with each binding otherwise.
const TYPE_MAX: usize = 2000;

/// How many findings are kept when they double; upstream shows 100.
const FINDINGS_MAX: usize = 100;

/// Checks the tree below `root`.
///
/// # Errors
/// Whatever is wrong with types and names.
pub(super) fn check(ast: &Ast, root: ExprId, env: &Environment) -> Result<Checked, Failure> {
    let mut checker = Checker {
        ast,
        env,
        types: vec![None; ast.len()],
        references: vec![Reference::None; ast.len()],
        scope: Vec::new(),
        locals: 0,
        substitution: Substitution::default(),
        findings: Vec::new(),
        told: vec![(0, 0); ast.len()],
        too_complex: false,
        tasks: vec![Task::Visit(root)],
    };
    while let Some(task) = checker.tasks.pop() {
        checker.run(task);
        if checker.too_complex || checker.substitution.exhausted() {
            return Err(Failure::TooComplex);
        }
    }
    if !checker.findings.is_empty() {
        return Err(Failure::Findings(checker.findings));
    }
    let mut substitution = checker.substitution;
    let types = checker.types.into_iter().map(|ty| ty.map(|ty| substitution.resolve(&ty, true))).collect();
    if substitution.exhausted() {
        return Err(Failure::TooComplex);
    }
    Ok(Checked { types, references: checker.references, locals: checker.locals })
}

#[derive(Clone, Copy)]
enum Task {
    Visit(ExprId),
    /// All children have types.
    Finish(ExprId),
    /// The range of a loop or the value of a binding has a type: its variables come into scope.
    Enter(ExprId),
    /// The body of a loop is done: all but the accumulator leave the scope.
    LeaveBody(ExprId),
}

struct Checker<'e> {
    ast: &'e Ast,
    env: &'e Environment,
    types: Vec<Option<Type>>,
    references: Vec<Reference>,
    scope: Vec<(Arc<str>, Type, usize)>,
    locals: usize,
    substitution: Substitution,
    findings: Vec<Finding>,
    /// By node, which of the findings are about it and what is below it.
    told: Vec<(usize, usize)>,
    too_complex: bool,
    tasks: Vec<Task>,
}

impl<'e> Checker<'e> {
    fn run(&mut self, task: Task) {
        match task {
            // Macros may refer to a node twice; it is checked once, but upstream tells twice what is
            // wrong with it.
            Task::Visit(id) if self.types[id.index()].is_some() => {
                let (first, end) = self.told[id.index()];
                if self.findings.len() < FINDINGS_MAX {
                    self.findings.extend_from_within(first..end);
                }
            }
            Task::Visit(id) => {
                self.told[id.index()].0 = self.findings.len();
                self.visit(id);
            }
            Task::Finish(id) => {
                let ty = self.finish(id);
                self.told[id.index()].1 = self.findings.len();
                self.too_complex |= ty.exceeds(TYPE_MAX);
                self.types[id.index()] = Some(ty);
            }
            Task::Enter(id) => self.enter(id),
            Task::LeaveBody(id) => self.leave_body(id),
        }
    }

    /// Has tasks done in the order given.
    fn then(&mut self, tasks: impl DoubleEndedIterator<Item = Task>) {
        self.tasks.extend(tasks.rev());
    }

    fn report(&mut self, at: ExprId, message: String) {
        self.findings.push(Finding { offset: Some(self.ast.offset(at)), message });
    }

    fn undeclared(&mut self, at: ExprId, name: &str) -> Type {
        self.report(at, format!("undeclared reference to '{name}' (in container '')"));
        Type::Error
    }

    fn mismatch(&mut self, at: ExprId, wanted: &Type, found: &Type) {
        self.report(at, format!("expected type '{wanted}' but found '{found}'"));
    }

    fn type_of(&self, id: ExprId) -> Type {
        self.types[id.index()].clone().unwrap_or(Type::Error)
    }

    fn assignable(&mut self, from: &Type, to: &Type) -> bool {
        self.substitution.assignable(&[(from, to)])
    }

    fn visit(&mut self, id: ExprId) {
        match self.ast.expr(id) {
            Expr::Literal(_) | Expr::Ident(_) | Expr::Struct(_) => self.tasks.push(Task::Finish(id)),
            Expr::Select { .. } if self.qualified_type(id) => self.tasks.push(Task::Finish(id)),
            Expr::Select { operand, .. } => self.then([Task::Visit(*operand), Task::Finish(id)].into_iter()),
            Expr::Call { function, target, args } => {
                let namespaced = target.and_then(|target| self.namespaced(target, function));
                let target = match namespaced {
                    Some(_) => None,
                    None => *target,
                };
                let visits = args.iter().copied().chain(target).map(Task::Visit);
                let tasks: Vec<_> = visits.chain([Task::Finish(id)]).collect();
                self.then(tasks.into_iter());
            }
            Expr::List(elements) => {
                let tasks: Vec<_> =
                    elements.iter().map(|(id, _)| Task::Visit(*id)).chain([Task::Finish(id)]).collect();
                self.then(tasks.into_iter());
            }
            Expr::Map(entries) => {
                let visits = entries.iter().flat_map(|(key, value, _)| [*key, *value]).map(Task::Visit);
                let tasks: Vec<_> = visits.chain([Task::Finish(id)]).collect();
                self.then(tasks.into_iter());
            }
            Expr::Comprehension(loops) => self.then(
                [
                    Task::Visit(loops.range),
                    Task::Visit(loops.init),
                    Task::Enter(id),
                    Task::Visit(loops.condition),
                    Task::Visit(loops.step),
                    Task::LeaveBody(id),
                    Task::Visit(loops.result),
                    Task::Finish(id),
                ]
                .into_iter(),
            ),
            Expr::Bind { init, body, .. } => self.then(
                [Task::Visit(*init), Task::Enter(id), Task::Visit(*body), Task::Finish(id)].into_iter(),
            ),
        }
    }

    /// The function that a receiver and a method's name spell together, if there is one.
    fn namespaced(&self, target: ExprId, function: &str) -> Option<&'e Declaration> {
        let name = format!("{}.{function}", self.ast.qualified_name(target)?);
        self.env.function(&name)
    }

    fn declare(&mut self, name: &Arc<str>, ty: Type) -> usize {
        self.scope.push((Arc::clone(name), ty, self.locals));
        self.locals += 1;
        self.locals - 1
    }

    fn enter(&mut self, id: ExprId) {
        match self.ast.expr(id) {
            Expr::Bind { variable, init, .. } => {
                let ty = self.type_of(*init);
                let local = self.declare(variable, ty);
                self.references[id.index()] = Reference::Bind(local);
            }
            Expr::Comprehension(loops) => {
                let (first, second) = self.loop_types(loops);
                let ty = self.type_of(loops.init);
                let accumulator = self.declare(&Arc::from(ACCUMULATOR), ty);
                let variable = self.declare(&loops.variable, first);
                let variable2 = match &loops.variable2 {
                    Some(name) => self.declare(name, second),
                    None => variable,
                };
                self.references[id.index()] = Reference::Loop([accumulator, variable, variable2]);
            }
            _ => {}
        }
    }

    /// The types of a loop's variables.
    fn loop_types(&mut self, loops: &Comprehension) -> (Type, Type) {
        let range = self.type_of(loops.range);
        let range = self.substitution.resolve(&range, false);
        match &range {
            Type::List(element) if loops.variable2.is_some() => (Type::Int, (**element).clone()),
            Type::List(element) => ((**element).clone(), Type::Error),
            Type::Map(entry) => (entry.0.clone(), entry.1.clone()),
            Type::Dyn | Type::Error | Type::Variable(_) => {
                self.assignable(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                self.report(
                    loops.range,
                    format!(
                        "expression of type '{other}' cannot be range of a comprehension (must be list, map, or \
                         dynamic)"
                    ),
                );
                (Type::Error, Type::Error)
            }
        }
    }

    fn leave_body(&mut self, id: ExprId) {
        let Expr::Comprehension(loops) = self.ast.expr(id) else { return };
        let accumulator = self.type_of(loops.init);
        for (at, wanted) in [(loops.condition, &Type::Bool), (loops.step, &accumulator)] {
            let found = self.type_of(at);
            if !self.assignable(wanted, &found) {
                self.mismatch(at, wanted, &found);
            }
        }
        self.scope.truncate(self.scope.len() - if loops.variable2.is_some() { 2 } else { 1 });
    }

    fn finish(&mut self, id: ExprId) -> Type {
        match self.ast.expr(id) {
            Expr::Literal(literal) => literal_type(literal),
            Expr::Ident(name) => self.ident(id, name),
            Expr::Struct(name) => self.undeclared(id, name),
            Expr::Select { operand, field, test } => {
                if let Reference::Type(ty) = &self.references[id.index()] {
                    return Type::Meta(Arc::new(ty.clone()));
                }
                let ty = self.field(id, *operand, field, false);
                let ty = if *test { Type::Bool } else { ty };
                self.substitution.resolve(&ty, false)
            }
            Expr::Call { function, target, args } => self.call(id, function, *target, args),
            Expr::List(elements) => {
                let ty = self.join(elements.iter().copied());
                Type::list(ty)
            }
            Expr::Map(entries) => {
                let key = self.join(entries.iter().map(|(key, ..)| (*key, false)));
                let value = self.join(entries.iter().map(|(_, value, optional)| (*value, *optional)));
                Type::map(key, value)
            }
            Expr::Comprehension(loops) => {
                self.scope.pop();
                let ty = self.type_of(loops.result);
                self.substitution.resolve(&ty, false)
            }
            Expr::Bind { body, .. } => {
                self.scope.pop();
                let ty = self.type_of(*body);
                self.substitution.resolve(&ty, false)
            }
        }
    }

    /// The common type of the elements of a literal, each with whether it is optional.
    fn join(&mut self, elements: impl Iterator<Item = (ExprId, bool)>) -> Type {
        let mut common: Option<Type> = None;
        for (id, optional) in elements {
            let mut ty = self.type_of(id);
            if optional {
                let (inner, is_optional) = ty.unwrap_optional();
                let inner = inner.clone();
                if !is_optional && !matches!(inner, Type::Dyn | Type::Any) {
                    self.mismatch(id, &Type::optional(inner.clone()), &inner);
                }
                ty = inner;
            }
            common = Some(match common {
                None => ty,
                Some(before) if self.assignable(&before, &ty) => {
                    if at_most_as_specific(&before, &ty) {
                        before
                    } else {
                        ty
                    }
                }
                // Mixed literals are refused later, but for those in a call of `format`.
                Some(_) => Type::Dyn,
            });
        }
        common.unwrap_or_else(|| self.substitution.fresh())
    }
}

fn literal_type(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}
