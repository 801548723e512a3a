//! What an expression may cost on any device: the estimate by which an API server refuses
//! expressions that could exceed the limit (cel-go's `checker/cost.go`, with the sizes and costs
//! that Kubernetes adds). To the unit, its quirks included.
//!
//! Every node gets bounds of its cost and, where they follow from the expression or from the
//! device's declaration, bounds of the size of its value and of the entries in it.

mod bounds;
mod calls;
mod path;
mod sizes;

pub use bounds::Bounds;

use self::calls::{Call, Operand, price};
use self::path::{Path, Paths, Step};
use super::ast::{Ast, Comprehension, Expr, ExprId};
use super::checker::{Checked, Reference};
use super::functions::Function;
use super::types::Type;

const NOTHING: Bounds = Bounds::exactly(0);
const SELECT: Bounds = Bounds::exactly(1);
const LIST: Bounds = Bounds::exactly(10);
const MAP: Bounds = Bounds::exactly(30);

/// What the expression below `root` costs.
pub(super) fn estimate(ast: &Ast, root: ExprId, checked: &Checked) -> Bounds {
    let mut estimator = Estimator {
        ast,
        checked,
        known: vec![Known::default(); ast.len()],
        paths: Paths::default(),
        scope: Vec::new(),
        tasks: vec![Task::Visit(root)],
    };
    while let Some(task) = estimator.tasks.pop() {
        estimator.run(task);
    }
    estimator.cost(root)
}

#[derive(Clone, Copy)]
enum Task {
    Visit(ExprId),
    /// The operand has a cost: its size is what is known of it now.
    Measure(ExprId),
    /// The range of a loop or the value of a binding has a cost: the variables come into scope.
    Enter(ExprId),
    /// The body of a loop is done: all but the accumulator leave the scope.
    LeaveBody(ExprId),
    /// All children have costs.
    Finish(ExprId),
}

/// What is known of a node.
#[derive(Clone, Default)]
struct Known {
    cost: Option<Bounds>,
    size: Option<Bounds>,
    entry: Option<Entry>,
    path: Option<Path>,
    /// The size when its parent took it for an operand.
    measured: Option<Bounds>,
}

/// The sizes of what is in a list or map.
#[derive(Clone, Copy, Debug)]
struct Entry {
    is_list: bool,
    key: Bounds,
    value: Bounds,
}

impl Entry {
    fn union(self, other: Self) -> Self {
        Self { is_list: self.is_list, key: self.key.union(other.key), value: self.value.union(other.value) }
    }
}

/// A variable in scope, with what is known of its value.
struct Variable<'a> {
    name: &'a str,
    path: Option<Path>,
    size: Option<Bounds>,
    entry: Option<Entry>,
}

struct Estimator<'a> {
    ast: &'a Ast,
    checked: &'a Checked,
    known: Vec<Known>,
    paths: Paths<'a>,
    scope: Vec<Variable<'a>>,
    tasks: Vec<Task>,
}

impl<'a> Estimator<'a> {
    fn run(&mut self, task: Task) {
        match task {
            // Where macros refer to a node twice, upstream has a copy, which costs the same.
            Task::Visit(id) if self.known[id.index()].cost.is_some() => {}
            Task::Visit(id) => self.visit(id),
            Task::Measure(id) => self.known[id.index()].measured = self.size(id),
            Task::Enter(id) => self.enter(id),
            Task::LeaveBody(id) => {
                if let Expr::Comprehension(loops) = self.ast.expr(id) {
                    let variables = if loops.variable2.is_some() { 2 } else { 1 };
                    self.scope.truncate(self.scope.len().saturating_sub(variables));
                }
            }
            Task::Finish(id) => {
                let cost = self.finish(id);
                self.known[id.index()].cost = Some(cost);
            }
        }
    }

    /// Has tasks done in the order given.
    fn then(&mut self, tasks: &[Task]) {
        self.tasks.extend(tasks.iter().rev());
    }

    /// The operands are measured one by one, then the parent is done.
    fn measured(&mut self, operands: impl Iterator<Item = ExprId>, then: ExprId) {
        let tasks: Vec<_> = operands
            .flat_map(|id| [Task::Visit(id), Task::Measure(id)])
            .chain([Task::Finish(then)])
            .collect();
        self.then(&tasks);
    }

    fn visit(&mut self, id: ExprId) {
        match self.ast.expr(id) {
            Expr::Literal(_) | Expr::Ident(_) | Expr::Struct(_) => self.tasks.push(Task::Finish(id)),
            Expr::Select { .. } if matches!(self.reference(id), Reference::Type(_)) => {
                self.tasks.push(Task::Finish(id));
            }
            Expr::Select { operand, .. } => self.then(&[Task::Visit(*operand), Task::Finish(id)]),
            Expr::Call { target, args, .. } => {
                let target = target.filter(|_| !self.is_namespaced(id));
                self.measured(args.iter().copied().chain(target), id);
            }
            Expr::List(elements) => self.measured(elements.iter().map(|(id, _)| *id), id),
            Expr::Map(entries) => {
                let tasks: Vec<_> = entries
                    .iter()
                    .flat_map(|(key, value, _)| {
                        [Task::Visit(*key), Task::Visit(*value), Task::Measure(*key), Task::Measure(*value)]
                    })
                    .chain([Task::Finish(id)])
                    .collect();
                self.then(&tasks);
            }
            Expr::Comprehension(loops) => self.then(&[
                Task::Visit(loops.range),
                Task::Visit(loops.init),
                Task::Enter(id),
                Task::Visit(loops.condition),
                Task::Visit(loops.step),
                Task::LeaveBody(id),
                Task::Visit(loops.result),
                Task::Finish(id),
            ]),
            Expr::Bind { init, body, .. } => {
                self.then(&[Task::Visit(*init), Task::Enter(id), Task::Visit(*body), Task::Finish(id)]);
            }
        }
    }

    fn reference(&self, id: ExprId) -> &'a Reference {
        &self.checked.references[id.index()]
    }

    fn is_namespaced(&self, id: ExprId) -> bool {
        matches!(self.reference(id), Reference::Call { namespaced: true, .. })
    }

    fn enter(&mut self, id: ExprId) {
        match self.ast.expr(id) {
            Expr::Bind { variable, init, .. } => self.declare(variable, *init),
            Expr::Comprehension(loops) => {
                self.declare(super::ast::ACCUMULATOR, loops.init);
                match &loops.variable2 {
                    Some(value) => {
                        self.declare_part(&loops.variable, loops.range, true);
                        self.declare_part(value, loops.range, false);
                    }
                    None => self.declare_element(loops),
                }
            }
            _ => {}
        }
    }

    /// A variable that stands for a node.
    fn declare(&mut self, name: &'a str, value: ExprId) {
        let (path, size, entry) = (self.path(value), self.size(value), self.entry(value));
        self.scope.push(Variable { name, path, size, entry });
    }

    /// The only variable of a loop: an element of a list, a key of a map.
    fn declare_element(&mut self, loops: &'a Comprehension) {
        let is_list = self.is_list(loops.range);
        self.declare_part(&loops.variable, loops.range, !is_list);
    }

    /// A variable for the keys of a range, or for its values.
    fn declare_part(&mut self, name: &'a str, range: ExprId, keys: bool) {
        let step = match (self.is_list(range), keys) {
            (true, true) => Step::Indices,
            (true, false) => Step::Items,
            (false, true) => Step::Keys,
            (false, false) => Step::Values,
        };
        let size = self.entry(range).map(|entry| if keys { entry.key } else { entry.value });
        let path = self.path(range);
        let path = Some(self.paths.append(path, step));
        self.scope.push(Variable { name, path, size, entry: None });
    }

    fn is_list(&self, range: ExprId) -> bool {
        match self.entry(range) {
            Some(entry) => entry.is_list,
            None => matches!(self.ty(range), Type::List(_)),
        }
    }

    fn cost(&self, id: ExprId) -> Bounds {
        self.known[id.index()].cost.unwrap_or(NOTHING)
    }

    fn total(&self, ids: impl IntoIterator<Item = ExprId>) -> Bounds {
        ids.into_iter().fold(NOTHING, |sum, id| sum.plus(self.cost(id)))
    }

    fn finish(&mut self, id: ExprId) -> Bounds {
        match self.ast.expr(id) {
            Expr::Literal(_) | Expr::Struct(_) => NOTHING,
            Expr::Ident(name) => {
                self.known[id.index()].path = self.ident(name);
                SELECT
            }
            Expr::Select { .. } if matches!(self.reference(id), Reference::Type(_)) => SELECT,
            Expr::Select { operand, test: true, .. } => self.cost(*operand),
            Expr::Select { operand, field, .. } => {
                let path = self.path(*operand);
                self.known[id.index()].path = Some(self.paths.append(path, Step::Name(field)));
                let charged = matches!(self.ty(*operand), Type::Map(_) | Type::Object(_));
                self.cost(*operand).plus(if charged { SELECT } else { NOTHING })
            }
            Expr::Call { target, args, .. } => self.call(id, *target, args),
            Expr::List(elements) => {
                let elements = || elements.iter().map(|(id, _)| *id);
                let entry = Entry { is_list: true, key: SELECT, value: self.range(elements()) };
                self.known[id.index()].entry = Some(entry);
                self.total(elements()).plus(LIST)
            }
            Expr::Map(entries) => {
                let keys = || entries.iter().map(|(key, ..)| *key);
                let values = || entries.iter().map(|(_, value, _)| *value);
                let entry = Entry { is_list: false, key: self.range(keys()), value: self.range(values()) };
                self.known[id.index()].entry = Some(entry);
                self.total(keys().chain(values())).plus(MAP)
            }
            Expr::Comprehension(loops) => self.comprehension(id, loops),
            Expr::Bind { init, body, .. } => {
                self.scope.pop();
                self.copy_sizes(*body, id);
                // The empty list that stands for the range of the loop that upstream makes of it.
                self.total([*init, *body]).plus(LIST)
            }
        }
    }

    /// The sizes of some operands. Of none, it is 0.
    fn range(&self, operands: impl Iterator<Item = ExprId>) -> Bounds {
        let sizes = operands.map(|id| self.known[id.index()].measured.unwrap_or(Bounds::UNKNOWN));
        sizes.reduce(Bounds::union).unwrap_or(NOTHING)
    }

    fn comprehension(&mut self, id: ExprId, loops: &Comprehension) -> Bounds {
        self.scope.pop();
        let count = self.size(loops.range).unwrap_or(Bounds::UNKNOWN);
        let rounds = count.times(self.total([loops.step, loops.condition]));
        match self.ast.expr(loops.init) {
            Expr::Literal(_) => {
                let size = self.size(loops.init);
                self.set_size(id, size);
            }
            Expr::List(_) | Expr::Map(_) => {
                self.set_size(id, Some(count));
                let entry = self.entry(loops.step);
                self.set_entry(id, entry);
            }
            _ => {}
        }
        self.total([loops.range, loops.init, loops.result]).plus(rounds)
    }

    fn call(&mut self, id: ExprId, target: Option<ExprId>, args: &'a [ExprId]) -> Bounds {
        let Reference::Call { function, overloads, namespaced, .. } = self.reference(id) else {
            return NOTHING;
        };
        if *function == Function::ToDyn
            && let [value] = args
        {
            self.copy_sizes(*value, id);
            return self.cost(*value).plus(SELECT);
        }
        let target = target.filter(|_| !namespaced);
        let mut cost: Option<Bounds> = None;
        let mut size: Option<Bounds> = None;
        for overload in overloads {
            let (of_this, gives) = self.overload(id, *function, overload, target, args);
            cost = Some(cost.map_or(of_this, |cost| cost.union(of_this)));
            if let Some(gives) = gives {
                size = Some(size.map_or(gives, |size| size.union(gives)));
            }
            let step = match *overload {
                "index_list" => Some(Step::Items),
                "index_map" => Some(Step::Values),
                _ => None,
            };
            if let (Some(step), Some(container)) = (step, args.first()) {
                size = self.entry(*container).map(|entry| entry.value);
                let path = self.path(*container);
                self.known[id.index()].path = Some(self.paths.append(path, step));
            }
            if size.is_none() {
                size = self.size(id);
            }
        }
        self.set_size(id, size);
        self.total(target).plus(cost.unwrap_or(NOTHING))
    }

    /// What a call costs with its arguments if it means this signature, and the size of its result.
    fn overload(
        &mut self,
        id: ExprId,
        function: Function,
        overload: &'static str,
        target: Option<ExprId>,
        args: &'a [ExprId],
    ) -> (Bounds, Option<Bounds>) {
        match (function, args) {
            (Function::And | Function::Or, [first, ..]) => {
                // The first may decide.
                let cost = Bounds { min: self.cost(*first).min, max: self.total(args.iter().copied()).max };
                return (cost, None);
            }
            (Function::Conditional, [condition, truthy, falsy]) => {
                let entries = (self.entry(*truthy), self.entry(*falsy));
                self.set_entry(id, entries.0.zip(entries.1).map(|(a, b)| a.union(b)));
                let branch = self.cost(*truthy).union(self.cost(*falsy));
                return (self.cost(*condition).plus(branch), Some(self.range([*truthy, *falsy].into_iter())));
            }
            (Function::Add, [a, b]) if matches!(overload, "add_list" | "add_string" | "add_bytes") => {
                let entries = (self.entry(*a), self.entry(*b));
                self.set_entry(id, entries.0.zip(entries.1).map(|(a, b)| a.union(b)));
            }
            _ => {}
        }
        let args_cost = self.total(args.iter().copied());
        let target = target.map(|target| self.operand(target));
        let args: Vec<_> = args.iter().map(|arg| self.operand(*arg)).collect();
        let price = price(&Call { function: function.name(), overload, target, args: &args });
        (price.cost.plus(args_cost), price.size)
    }

    fn operand(&self, id: ExprId) -> Operand<'a> {
        let path = self.path(id);
        Operand {
            ty: self.ty(id),
            literal: match self.ast.expr(id) {
                Expr::Literal(literal) => Some(literal),
                _ => None,
            },
            computed: self.known[id.index()].measured,
            declared: path.and_then(|path| self.paths.size(path)),
            element: path.and_then(|path| self.paths.element_size(path)),
        }
    }
}
