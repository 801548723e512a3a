//! Turns a checked tree into code: chains of accesses to the device become one instruction, calls of
//! constants are made now, constant patterns are compiled. Works off a stack of tasks.

mod access;
mod calls;
mod loops;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ast::{Ast, Expr, ExprId, Literal};
use super::checker::{Checked, Reference};
use super::cost::LIST;
use super::error::CompileError;
use super::estimate::{Bounds, estimate};
use super::functions::Function;
use super::program::{Access, Op, Path, Program, Target};
use super::types::Type;
use super::value::{Key, Value};

/// The most instructions of a program. Macros that repeat their operand could make more.
const OPS_MAX: usize = 200_000;

/// The program of a tree.
///
/// # Errors
/// A conversion of a constant fails, or the program would be too big.
pub(super) fn generate(ast: &Ast, root: ExprId, checked: &Checked) -> Result<Program, CompileError> {
    let mut generator = Generator {
        ast,
        checked,
        ops: Vec::new(),
        labels: Vec::new(),
        barrier: 0,
        constants: Vec::new(),
        paths: Vec::new(),
        regexes: Vec::new(),
        sets: Vec::new(),
        bindings: vec![None; checked.locals],
        deferred: Vec::new(),
        tasks: vec![Task::Value(root, Charged::Fully)],
    };
    generator.work()?;
    let end = generator.label();
    if !generator.deferred.is_empty() {
        generator.emit(Op::Jump(end));
    }
    while let Some((slot, init)) = generator.deferred.pop() {
        let start = generator.bindings[slot].unwrap_or(end);
        generator.tasks = vec![
            Task::Op(Op::Return { slot: index(slot) }),
            Task::Value(init, Charged::Fully),
            Task::Head(start),
        ];
        generator.work()?;
    }
    generator.place(end, true);
    Ok(generator.finish(estimate(ast, root, checked)))
}

fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Whether the last unit of a chain of accesses is charged: not where the chain is the branch of a
/// ternary or the key of another chain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Charged {
    Fully,
    Partly,
}

enum Task {
    Value(ExprId, Charged),
    Op(Op),
    /// Something may jump here.
    Label(Target),
    /// Something will jump back here.
    Head(Target),
    /// Appends the value on the stack to the accumulator of a loop.
    Append(u32),
    /// Skips the other arguments if the last of so many is a failure, unless it is a constant.
    Strict(u32, Target),
    /// Calls a function, now if its arguments are constants.
    Call {
        function: Function,
        overload: Option<&'static str>,
        count: u32,
    },
    /// Makes a list or map, now if its parts are constants.
    List(Arc<[bool]>, Target),
    Map(Arc<[bool]>, Target),
    /// Calls `findAll` with a literal pattern on the text and limit on the stack.
    FindAll(Arc<str>, &'static str),
    /// Takes the element whose key is on the stack.
    Element(Access),
    /// Upstream cannot plan this.
    Refuse(String),
    /// Tests for membership in the list on the stack, or in a set if it is constant.
    In(Option<&'static str>),
}

/// A place in the code to jump to.
#[derive(Clone, Copy, Default)]
struct Label {
    at: usize,
    used: bool,
}

/// The labels that an instruction names.
fn targets(op: &mut Op) -> [Option<&mut Target>; 2] {
    match op {
        Op::Lazy { init: target, .. }
        | Op::Jump(target)
        | Op::Root { exit: target }
        | Op::Field { access: Access { exit: target, .. }, .. }
        | Op::Element { access: Access { exit: target, .. } }
        | Op::Merge { exit: target, .. }
        | Op::Strict { exit: target, .. }
        | Op::OrElse { exit: target, .. }
        | Op::Loop { exit: target, .. }
        | Op::Next { done: target, .. }
        | Op::While { done: target } => [Some(target), None],
        Op::Branch { otherwise, exit } => [Some(otherwise), Some(exit)],
        _ => [None, None],
    }
}

struct Generator<'c> {
    ast: &'c Ast,
    checked: &'c Checked,
    ops: Vec<Op>,
    labels: Vec<Label>,
    /// No instruction before this one may be folded away: something jumps here.
    barrier: usize,
    constants: Vec<Value<'static>>,
    paths: Vec<Path>,
    regexes: Vec<regex::Regex>,
    sets: Vec<BTreeSet<Key>>,
    /// The code of each binding's value, if the slot is a binding's.
    bindings: Vec<Option<Target>>,
    deferred: Vec<(usize, ExprId)>,
    tasks: Vec<Task>,
}

impl Generator<'_> {
    fn work(&mut self) -> Result<(), CompileError> {
        while let Some(task) = self.tasks.pop() {
            if self.ops.len() + self.tasks.len() > OPS_MAX {
                return Err(CompileError::TooComplex);
            }
            match task {
                Task::Value(id, charged) => self.value(id, charged),
                Task::Op(op) => self.emit(op),
                Task::Label(label) => self.place(label, false),
                Task::Head(label) => self.place(label, true),
                Task::Strict(count, exit) => {
                    if self.constants(1).is_none() {
                        self.emit(Op::Strict { count, exit });
                    }
                }
                Task::Call { function, overload, count } => self.call(function, overload, count)?,
                Task::List(optional, exit) => self.list(optional, exit),
                Task::Map(optional, exit) => self.map(optional, exit),
                Task::Append(slot) => {
                    // A list of a constant costs nothing to make.
                    let made = if self.literals(1).is_some() { 0 } else { LIST };
                    self.emit(Op::Append { slot, cost: made + 1 });
                }
                Task::FindAll(pattern, overload) => self.find_all(&pattern, overload)?,
                Task::Element(access) => self.element(access)?,
                Task::Refuse(reason) => return Err(CompileError::Instantiation { reason }),
                Task::In(overload) => self.membership(overload)?,
            }
        }
        Ok(())
    }

    fn finish(self, estimate: Bounds) -> Program {
        let labels = self.labels;
        let mut ops = self.ops;
        for op in &mut ops {
            for target in targets(op).into_iter().flatten() {
                *target = labels.get(*target as usize).map_or(0, |label| index(label.at));
            }
        }
        Program {
            ops: ops.into(),
            constants: self.constants.into(),
            paths: self.paths.into(),
            regexes: self.regexes.into(),
            sets: self.sets.into(),
            locals: self.bindings.len(),
            estimate,
        }
    }

    /// Has tasks done in the order given.
    fn then(&mut self, tasks: impl IntoIterator<Item = Task, IntoIter: DoubleEndedIterator>) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    fn emit(&mut self, mut op: Op) {
        for target in targets(&mut op).into_iter().flatten() {
            self.labels[*target as usize].used = true;
        }
        self.ops.push(op);
    }

    fn label(&mut self) -> Target {
        self.labels.push(Label::default());
        index(self.labels.len() - 1)
    }

    /// Makes a label stand for the next instruction.
    fn place(&mut self, label: Target, later: bool) {
        let label = &mut self.labels[label as usize];
        label.at = self.ops.len();
        if label.used || later {
            self.barrier = self.ops.len();
        }
    }

    fn constant(&mut self, value: Value<'static>) -> u32 {
        self.constants.push(value);
        index(self.constants.len() - 1)
    }

    fn literal(&mut self, value: Value<'static>) {
        let index = self.constant(value);
        self.emit(Op::Const { index, cost: 0, literal: true });
    }

    fn value(&mut self, id: ExprId, charged: Charged) {
        match self.ast.expr(id) {
            Expr::Literal(literal) => self.literal(literal_value(literal)),
            Expr::Ident(_) | Expr::Select { .. } => self.chain(id, charged),
            Expr::Struct(_) => self.literal(Value::Null),
            Expr::Call { target, args, .. } => self.function(id, *target, args, charged),
            Expr::List(elements) => {
                let optional: Arc<[bool]> = elements.iter().map(|(_, optional)| *optional).collect();
                let values: Vec<_> = elements.iter().map(|(id, _)| *id).collect();
                self.aggregate(&values, |exit| Task::List(optional, exit));
            }
            Expr::Map(entries) => {
                let optional: Arc<[bool]> = entries.iter().map(|(.., optional)| *optional).collect();
                let values: Vec<_> = entries.iter().flat_map(|(key, value, _)| [*key, *value]).collect();
                self.aggregate(&values, |exit| Task::Map(optional, exit));
            }
            Expr::Comprehension(loops) => self.comprehension(id, loops),
            Expr::Bind { variable, init, body } => {
                if self.is_type(*init) {
                    self.then([Task::Value(*init, Charged::Fully), undefined_type(variable)]);
                    return;
                }
                let Reference::Bind(slot) = self.checked.references[id.index()] else { return };
                if self.bindings[slot].is_none() {
                    let start = self.label();
                    self.bindings[slot] = Some(start);
                    self.deferred.push((slot, *init));
                }
                let body = Task::Value(*body, Charged::Fully);
                // Upstream takes no binding for a constant, even if its body is one.
                let end = self.label();
                self.then([Task::Op(Op::Reset { slot: index(slot) }), body, Task::Head(end)]);
            }
        }
    }

    /// The parts of a literal list or map, of which the first failure is the result.
    fn aggregate(&mut self, parts: &[ExprId], make: impl FnOnce(Target) -> Task) {
        let exit = self.label();
        let mut tasks = Self::arguments(parts, Some(exit));
        tasks.push(make(exit));
        self.then(tasks);
    }

    /// Values one after another; with `exit`, those after a failure are skipped.
    fn arguments(values: &[ExprId], exit: Option<Target>) -> Vec<Task> {
        let mut tasks = Vec::with_capacity(values.len() * 2 + 2);
        for (at, value) in values.iter().enumerate() {
            tasks.push(Task::Value(*value, Charged::Fully));
            if let Some(exit) = exit.filter(|_| at + 1 < values.len()) {
                tasks.push(Task::Strict(index(at + 1), exit));
            }
        }
        tasks
    }

    /// Whether the value of a node is a type, which upstream's planner looks up by the name of whatever
    /// variable holds it.
    fn is_type(&self, id: ExprId) -> bool {
        matches!(self.checked.types[id.index()], Some(Type::Meta(_)))
    }

    fn reference(&self, id: ExprId) -> &Reference {
        &self.checked.references[id.index()]
    }

    /// The function that a node calls.
    fn called(&self, id: ExprId) -> Option<Function> {
        match self.reference(id) {
            Reference::Call { function, .. } => Some(*function),
            _ => None,
        }
    }
}

fn undefined_type(variable: &str) -> Task {
    Task::Refuse(format!("reference to undefined type: {variable}"))
}

fn literal_value(literal: &Literal) -> Value<'static> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Uint(value) => Value::Uint(*value),
        Literal::Double(value) => Value::Double(*value),
        Literal::String(text) => Value::text(Arc::clone(text)),
        Literal::Bytes(bytes) => Value::Bytes(Arc::clone(bytes)),
    }
}
