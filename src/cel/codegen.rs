//! Turns a checked tree into code: chains of accesses to the device become one instruction, calls of
//! constants are made now, constant patterns are compiled. Works off a stack of tasks.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ast::{ACCUMULATOR, Ast, Comprehension, Expr, ExprId, Literal};
use super::checker::{Checked, Reference};
use super::cost::{self, Meter};
use super::device::Section;
use super::error::CompileError;
use super::functions::Function;
use super::library;
use super::program::{Access, Op, Path, Program, Target};
use super::value::{Entries, Map, Outcome, TypeName, Value};

/// The most instructions of a program. Macros that repeat their operand could make more.
const OPS_MAX: usize = 200_000;
/// The most that calls folded into one constant may have cost.
const FOLDED_MAX: u64 = 10_000;

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
            Task::Label(start),
        ];
        generator.work()?;
    }
    generator.place(end);
    Ok(generator.finish())
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
    Label(Target),
    /// Calls a function, now if its arguments are constants.
    Call {
        function: Function,
        overload: Option<&'static str>,
        count: u32,
    },
    /// Makes a list or map, now if its parts are constants.
    List(Arc<[bool]>),
    Map(Arc<[bool]>),
    /// Tests for membership in the list on the stack, or in a set if it is constant.
    In(Option<&'static str>),
}

/// One step of a chain of accesses, from the outside in.
enum Step {
    Field { field: Arc<str>, optional: bool, test: bool },
    Element { key: ExprId, optional: bool },
}

struct Generator<'c> {
    ast: &'c Ast,
    checked: &'c Checked,
    ops: Vec<Op>,
    labels: Vec<usize>,
    /// No instruction before this one may be folded away: something jumps here.
    barrier: usize,
    constants: Vec<Value<'static>>,
    paths: Vec<Path>,
    regexes: Vec<regex::Regex>,
    sets: Vec<BTreeSet<super::value::Key>>,
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
                Task::Label(label) => self.place(label),
                Task::Call { function, overload, count } => self.call(function, overload, count)?,
                Task::List(optional) => self.list(optional),
                Task::Map(optional) => self.map(optional),
                Task::In(overload) => self.membership(overload)?,
            }
        }
        Ok(())
    }

    fn finish(self) -> Program {
        let labels = self.labels;
        let resolve = |target: &mut Target| *target = labels.get(*target as usize).map_or(0, |at| index(*at));
        let mut ops = self.ops;
        for op in &mut ops {
            match op {
                Op::Lazy { init: target, .. }
                | Op::Jump(target)
                | Op::Root { exit: target }
                | Op::Field { access: Access { exit: target, .. }, .. }
                | Op::Element { access: Access { exit: target, .. }, .. }
                | Op::Merge { exit: target, .. }
                | Op::Strict { exit: target, .. }
                | Op::OrElse { exit: target, .. }
                | Op::Loop { exit: target }
                | Op::Next { done: target, .. }
                | Op::While { done: target } => resolve(target),
                Op::Branch { otherwise, exit } => {
                    resolve(otherwise);
                    resolve(exit);
                }
                _ => {}
            }
        }
        Program {
            ops: ops.into(),
            constants: self.constants.into(),
            paths: self.paths.into(),
            regexes: self.regexes.into(),
            sets: self.sets.into(),
            locals: self.bindings.len(),
        }
    }

    /// Has tasks done in the order given.
    fn then(&mut self, tasks: impl IntoIterator<Item = Task, IntoIter: DoubleEndedIterator>) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    fn emit(&mut self, op: Op) {
        self.ops.push(op);
    }

    fn label(&mut self) -> Target {
        self.labels.push(0);
        index(self.labels.len() - 1)
    }

    fn place(&mut self, label: Target) {
        self.labels[label as usize] = self.ops.len();
        self.barrier = self.ops.len();
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
                let values = elements.iter().map(|(id, _)| Task::Value(*id, Charged::Fully));
                let tasks: Vec<_> = values.chain([Task::List(optional)]).collect();
                self.then(tasks);
            }
            Expr::Map(entries) => {
                let optional: Arc<[bool]> = entries.iter().map(|(.., optional)| *optional).collect();
                let values = entries.iter().flat_map(|(key, value, _)| [*key, *value]);
                let values = values.map(|id| Task::Value(id, Charged::Fully));
                let tasks: Vec<_> = values.chain([Task::Map(optional)]).collect();
                self.then(tasks);
            }
            Expr::Comprehension(loops) => self.comprehension(id, loops),
            Expr::Bind { init, body, .. } => {
                let Reference::Bind(slot) = self.checked.references[id.index()] else { return };
                if self.bindings[slot].is_none() {
                    let start = self.label();
                    self.bindings[slot] = Some(start);
                    self.deferred.push((slot, *init));
                }
                let body = Task::Value(*body, Charged::Fully);
                self.then([Task::Op(Op::Reset { slot: index(slot) }), body]);
            }
        }
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

    fn function(&mut self, id: ExprId, target: Option<ExprId>, args: &[ExprId], charged: Charged) {
        let Reference::Call { function, overload, namespaced } = *self.reference(id) else { return };
        let full = |id: ExprId| Task::Value(id, Charged::Fully);
        match (function, args) {
            (Function::Index | Function::OptionalIndex | Function::OptionalSelect, _) => {
                self.chain(id, charged);
            }
            (Function::And | Function::Or, _) => {
                let exit = self.label();
                let decisive = function == Function::Or;
                let merge = || Task::Op(Op::Merge { decisive, exit });
                let terms = args.iter().flat_map(|arg| [full(*arg), merge()]);
                let start = [Task::Op(Op::Logical(!decisive))];
                let tasks: Vec<_> = start.into_iter().chain(terms).chain([Task::Label(exit)]).collect();
                self.then(tasks);
            }
            (Function::Conditional, [condition, truthy, falsy]) => {
                let (otherwise, exit) = (self.label(), self.label());
                self.then([
                    full(*condition),
                    Task::Op(Op::Branch { otherwise, exit }),
                    Task::Value(*truthy, Charged::Partly),
                    Task::Op(Op::Jump(exit)),
                    Task::Label(otherwise),
                    Task::Value(*falsy, Charged::Partly),
                    Task::Label(exit),
                ]);
            }
            (Function::OptionalOr | Function::OptionalOrValue, [other]) if target.is_some() => {
                let exit = self.label();
                let unwrap = function == Function::OptionalOrValue;
                let or_else = Task::Op(Op::OrElse { unwrap, exit });
                let tasks = target.map(full).into_iter().chain([or_else, full(*other), Task::Label(exit)]);
                let tasks: Vec<_> = tasks.collect();
                self.then(tasks);
            }
            (Function::In, [_, list]) if matches!(self.ast.expr(*list), Expr::List(items) if items.is_empty()) =>
            {
                self.literal(Value::Bool(false));
            }
            (Function::In, [needle, list]) => {
                self.then([full(*needle), full(*list), Task::In(overload)]);
            }
            _ => {
                let target = target.filter(|_| !namespaced);
                let args: Vec<_> = target.into_iter().chain(args.iter().copied()).collect();
                let count = index(args.len());
                let mut tasks = Vec::new();
                let stops = args.len() > 2
                    || args.len() == 2
                        && (function == Function::Format || overload.is_none() && !is_operator(function));
                let exit = self.label();
                for (at, arg) in args.iter().enumerate() {
                    tasks.push(full(*arg));
                    if stops && at + 1 < args.len() && !matches!(self.ast.expr(*arg), Expr::Literal(_)) {
                        tasks.push(Task::Op(Op::Strict { count: index(at + 1), exit }));
                    }
                }
                tasks.push(Task::Call { function, overload, count });
                tasks.push(Task::Label(exit));
                self.then(tasks);
            }
        }
    }

    /// A chain of accesses: its root, and the steps from the inside out.
    fn chain(&mut self, id: ExprId, charged: Charged) {
        let mut steps = Vec::new();
        let mut root = id;
        loop {
            match self.ast.expr(root) {
                Expr::Select { operand, field, test } => {
                    steps.push(Step::Field { field: Arc::clone(field), optional: false, test: *test });
                    root = *operand;
                }
                Expr::Call { args, .. } => match (self.called(root), &**args) {
                    (Some(Function::OptionalSelect), [operand, field]) => {
                        let Expr::Literal(Literal::String(field)) = self.ast.expr(*field) else { break };
                        steps.push(Step::Field { field: Arc::clone(field), optional: true, test: false });
                        root = *operand;
                    }
                    (Some(function @ (Function::Index | Function::OptionalIndex)), [operand, key]) => {
                        let optional = function == Function::OptionalIndex;
                        steps.push(match self.ast.expr(*key) {
                            Expr::Literal(Literal::String(field)) => {
                                Step::Field { field: Arc::clone(field), optional, test: false }
                            }
                            _ => Step::Element { key: *key, optional },
                        });
                        root = *operand;
                    }
                    _ => break,
                },
                _ => break,
            }
        }
        steps.reverse();
        let test = matches!(steps.last(), Some(Step::Field { test: true, .. }));
        let own = u32::from(charged == Charged::Fully && !test);
        match self.reference(root).clone() {
            Reference::Device => self.device_chain(&steps, own),
            Reference::Type(ty) if steps.is_empty() => {
                let name = type_value(&ty);
                self.literal(Value::Type(name));
            }
            Reference::Local(slot) => {
                let own_now = if steps.is_empty() { own } else { 0 };
                let slot32 = index(slot);
                self.emit(match self.bindings.get(slot).copied().flatten() {
                    Some(init) => Op::Lazy { slot: slot32, init, cost: own_now },
                    None => Op::Local { slot: slot32, cost: own_now },
                });
                self.steps(&steps, own, true);
            }
            _ => {
                let conditional = self.called(root) == Some(Function::Conditional);
                let own = if conditional { 0 } else { own };
                let mut tasks = vec![Task::Value(root, Charged::Fully)];
                tasks.extend(self.step_tasks(&steps, own, true));
                self.then(tasks);
            }
        }
    }

    /// A chain that starts with the variable `device`: as much of it as can be is one instruction.
    fn device_chain(&mut self, steps: &[Step], own: u32) {
        let field = |at: usize| match steps.get(at) {
            Some(Step::Field { field, optional: false, test }) => Some((&**field, *test)),
            _ => None,
        };
        let mut used = 1;
        let path = match field(0) {
            Some(("driver", _)) => Path::Driver,
            Some(("allowMultipleAllocations", _)) => Path::MultipleAllocations,
            Some((name @ ("attributes" | "capacity"), _)) => {
                let section = if name == "attributes" { Section::Attributes } else { Section::Capacity };
                match (field(1), field(2)) {
                    (Some((domain, _)), Some((id, _))) => {
                        used = 3;
                        let key = format!("{domain}/{id}").into();
                        Path::Member { section, domain: domain.into(), id: id.into(), key }
                    }
                    (Some((domain, _)), None) => {
                        used = 2;
                        Path::Domain(section, domain.into())
                    }
                    _ => Path::Section(section),
                }
            }
            _ => {
                used = 0;
                Path::Whole
            }
        };
        let test = used > 0 && field(used - 1).is_some_and(|(_, test)| test);
        self.paths.push(path);
        let whole = used == steps.len();
        let cost = index(used) + if whole { own } else { 0 };
        self.emit(Op::Path { index: index(self.paths.len() - 1), cost, test });
        self.steps(&steps[used..], own, used == 3);
    }

    fn steps(&mut self, steps: &[Step], own: u32, may_fail: bool) {
        let tasks = self.step_tasks(steps, own, may_fail);
        self.then(tasks);
    }

    /// The accesses of a chain whose root is on the stack. `own` is charged at the end.
    fn step_tasks(&mut self, steps: &[Step], own: u32, may_fail: bool) -> Vec<Task> {
        let mut tasks = Vec::new();
        if steps.is_empty() {
            return tasks;
        }
        let exit = self.label();
        if may_fail {
            tasks.push(Task::Op(Op::Root { exit }));
        }
        let mut tested = false;
        for step in steps {
            match step {
                Step::Field { field, optional, test } => {
                    tested |= *test;
                    let key = self.constant(Value::text(Arc::clone(field)));
                    let access = Access { optional: *optional, test: *test, exit };
                    tasks.push(Task::Op(Op::Field { key, access }));
                }
                Step::Element { key, optional } => {
                    let cost = u32::from(self.called(*key) != Some(Function::Conditional));
                    let access = Access { optional: *optional, test: false, exit };
                    tasks.push(Task::Value(*key, Charged::Partly));
                    tasks.push(Task::Op(Op::Element { access, cost }));
                }
            }
        }
        tasks.push(Task::Label(exit));
        if tested {
            tasks.push(Task::Op(Op::Present));
        }
        if own > 0 {
            tasks.push(Task::Op(Op::Charge(own)));
        }
        tasks
    }

    fn comprehension(&mut self, id: ExprId, loops: &Comprehension) {
        let Reference::Loop([accumulator, first, second]) = *self.reference(id) else { return };
        let (head, done, exit) = (self.label(), self.label(), self.label());
        let full = |id: ExprId| Task::Value(id, Charged::Fully);
        let store = || Task::Op(Op::Store { slot: index(accumulator) });
        let slots = [index(first), index(second)];
        let mut tasks = vec![
            full(loops.range),
            Task::Op(Op::Loop { exit }),
            full(loops.init),
            store(),
            Task::Label(head),
            Task::Op(Op::Next { slots, pair: loops.variable2.is_some(), done }),
        ];
        if !matches!(self.ast.expr(loops.condition), Expr::Literal(Literal::Bool(true))) {
            tasks.extend([full(loops.condition), Task::Op(Op::While { done })]);
        }
        tasks.extend(self.loop_step(loops.step, index(accumulator)));
        tasks.extend([store(), Task::Op(Op::Jump(head)), Task::Label(done), full(loops.result)]);
        tasks.push(Task::Label(exit));
        self.then(tasks);
    }

    /// The step of a loop, which grows a list or map in place if that is what it is for.
    fn loop_step(&mut self, step: ExprId, slot: u32) -> Vec<Task> {
        let Expr::Call { args, .. } = self.ast.expr(step) else {
            return vec![Task::Value(step, Charged::Fully)];
        };
        match (self.called(step), &**args) {
            (Some(Function::Conditional), [condition, grown, same]) => {
                let Some(grow) = self.growth(*grown, slot) else {
                    return vec![Task::Value(step, Charged::Fully)];
                };
                let (otherwise, exit) = (self.label(), self.label());
                let mut tasks =
                    vec![Task::Value(*condition, Charged::Fully), Task::Op(Op::Branch { otherwise, exit })];
                tasks.extend(grow);
                tasks.extend([
                    Task::Op(Op::Jump(exit)),
                    Task::Label(otherwise),
                    Task::Value(*same, Charged::Partly),
                    Task::Label(exit),
                ]);
                tasks
            }
            _ => self.growth(step, slot).unwrap_or_else(|| vec![Task::Value(step, Charged::Fully)]),
        }
    }

    /// `accumulator + [element]` or `cel.@mapInsert(accumulator, ..)`.
    fn growth(&self, step: ExprId, slot: u32) -> Option<Vec<Task>> {
        let Expr::Call { args, .. } = self.ast.expr(step) else { return None };
        let (first, rest) = args.split_first()?;
        if !matches!(self.ast.expr(*first), Expr::Ident(name) if &**name == ACCUMULATOR) {
            return None;
        }
        let full = |id: &ExprId| Task::Value(*id, Charged::Fully);
        match (self.called(step)?, rest) {
            (Function::Add, [list]) => match self.ast.expr(*list) {
                Expr::List(elements) if elements.len() == 1 => {
                    // A list of a constant costs nothing to make.
                    if matches!(self.ast.expr(elements[0].0), Expr::Literal(_)) {
                        return None;
                    }
                    Some(vec![full(&elements[0].0), Task::Op(Op::Append { slot })])
                }
                _ => None,
            },
            (Function::MapInsert, _) => {
                let mut tasks: Vec<_> = rest.iter().map(full).collect();
                tasks.push(Task::Op(Op::Insert { slot, pair: rest.len() == 2 }));
                Some(tasks)
            }
            _ => None,
        }
    }

    /// The topmost constants, if that is all that the last `count` instructions push.
    fn constants(&self, count: u32) -> Option<Vec<(u32, u32, bool)>> {
        let start = self.ops.len().checked_sub(count as usize).filter(|start| *start >= self.barrier)?;
        self.ops[start..]
            .iter()
            .map(|op| match op {
                Op::Const { index, cost, literal } => Some((*index, *cost, *literal)),
                _ => None,
            })
            .collect()
    }

    fn call(
        &mut self,
        function: Function,
        overload: Option<&'static str>,
        count: u32,
    ) -> Result<(), CompileError> {
        if let Some(constants) = self.constants(count) {
            let before: u32 = constants.iter().map(|(_, cost, _)| *cost).sum();
            let args: Vec<_> =
                constants.iter().map(|(at, ..)| self.constants[*at as usize].clone()).collect();
            let mut meter = Meter::new(FOLDED_MAX);
            let result = library::call(function, overload, &args, &mut meter);
            let conversion = is_conversion(function) && constants.iter().all(|(.., literal)| *literal);
            let args: Vec<Outcome<'static>> = args.into_iter().map(Ok).collect();
            let cost = if conversion { 0 } else { cost::of_call(function, overload, &args, &result) };
            match result {
                Ok(value) if cost <= FOLDED_MAX && function != Function::NotStrictlyFalse => {
                    self.ops.truncate(self.ops.len() - count as usize);
                    let index = self.constant(value);
                    let cost = before.saturating_add(u32::try_from(cost).unwrap_or(u32::MAX));
                    self.emit(Op::Const { index, cost, literal: conversion });
                    return Ok(());
                }
                Err(failure) if conversion => {
                    return Err(CompileError::Instantiation { reason: failure.to_string() });
                }
                _ => {}
            }
        }
        if function == Function::Matches && count == 2 && self.pattern(overload)? {
            return Ok(());
        }
        self.emit(Op::Call { function, overload, count });
        Ok(())
    }

    /// `matches` with a constant pattern.
    fn pattern(&mut self, overload: Option<&'static str>) -> Result<bool, CompileError> {
        let Some([(pattern, 0, true)]) =
            self.constants(1).as_deref().and_then(|c| <[_; 1]>::try_from(c).ok())
        else {
            return Ok(false);
        };
        let Value::String(text) = &self.constants[pattern as usize] else { return Ok(false) };
        if overload.is_none() {
            return Ok(false);
        }
        match library::pattern::compile(text) {
            Ok(regex) => {
                self.ops.pop();
                self.regexes.push(regex);
                self.emit(Op::Matches { regex: index(self.regexes.len() - 1), pattern });
                Ok(true)
            }
            Err(reason) => Err(CompileError::Instantiation { reason }),
        }
    }

    /// The topmost values, if all are what upstream takes for constants.
    fn literals(&self, count: u32) -> Option<Vec<Value<'static>>> {
        let constants = self.constants(count)?;
        let all = constants.iter().all(|(_, _, literal)| *literal);
        all.then(|| constants.iter().map(|(at, ..)| self.constants[*at as usize].clone()).collect())
    }

    fn list(&mut self, optional: Arc<[bool]>) {
        let count = index(optional.len());
        let plain = !optional.contains(&true);
        match self.literals(count).filter(|_| plain) {
            Some(values) => {
                self.ops.truncate(self.ops.len() - values.len());
                self.literal(Value::list(values));
            }
            None => self.emit(Op::List { count, optional }),
        }
    }

    fn map(&mut self, optional: Arc<[bool]>) {
        let count = index(optional.len());
        let plain = !optional.contains(&true);
        let entries = self.literals(count * 2).filter(|_| plain).and_then(|values| {
            let entry = |pair: &[Value<'static>]| Some((pair[0].key()?, (pair[0].clone(), pair[1].clone())));
            values.chunks(2).map(entry).collect::<Option<Entries<'static>>>()
        });
        match entries {
            Some(entries) => {
                self.ops.truncate(self.ops.len() - count as usize * 2);
                self.literal(Value::Map(Map::new(entries)));
            }
            None => self.emit(Op::Map { count, optional }),
        }
    }

    fn membership(&mut self, overload: Option<&'static str>) -> Result<(), CompileError> {
        if overload == Some("in_list")
            && let Some([Value::List(list)]) = self.literals(1).as_deref()
        {
            let simple = |value: &Value<'_>| !matches!(value, Value::Null);
            let keys: Option<BTreeSet<_>> =
                list.iter().map(|value| value.key().filter(|_| simple(&value))).collect();
            if let Some(keys) = keys {
                self.ops.pop();
                self.sets.push(keys);
                self.emit(Op::InSet { set: index(self.sets.len() - 1) });
                return Ok(());
            }
        }
        self.call(Function::In, overload, 2)
    }
}

fn is_operator(function: Function) -> bool {
    !function.name().starts_with(|c: char| c.is_ascii_alphabetic()) || function == Function::Matches
}

fn is_conversion(function: Function) -> bool {
    matches!(
        function,
        Function::ToBool
            | Function::ToBytes
            | Function::ToDouble
            | Function::ToDyn
            | Function::ToInt
            | Function::ToString
            | Function::ToUint
            | Function::TypeOf
    )
}

fn type_value(ty: &super::types::Type) -> TypeName {
    use super::types::Type;
    TypeName(match ty {
        Type::Null => "null_type",
        Type::Bool => "bool",
        Type::Bytes => "bytes",
        Type::Double => "double",
        Type::Int => "int",
        Type::String => "string",
        Type::Uint => "uint",
        Type::List(_) => "list",
        Type::Map(_) => "map",
        Type::Optional(_) => "optional_type",
        _ => "type",
    })
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
