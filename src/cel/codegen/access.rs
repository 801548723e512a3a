//! Chains of accesses. Those to single attributes and capacities are one instruction.

use std::sync::Arc;

use super::{Charged, Generator, Task, index, undefined_type};
use crate::cel::ast::{Expr, ExprId, Literal};
use crate::cel::checker::Reference;
use crate::cel::device::Section;
use crate::cel::error::CompileError;
use crate::cel::eval::check_qualifier;
use crate::cel::functions::Function;
use crate::cel::program::{Access, Op, Path};
use crate::cel::types::{CIDR, IP, Type};
use crate::cel::value::{TypeName, Value};

/// One step of a chain of accesses, from the outside in.
enum Step {
    Field { field: Arc<str>, optional: bool, test: bool },
    Element { key: ExprId, optional: bool },
}

impl Generator<'_> {
    /// A chain of accesses: its root, and the steps from the inside out.
    pub(super) fn chain(&mut self, id: ExprId, charged: Charged) {
        let mut steps = Vec::new();
        let mut root = id;
        loop {
            match self.ast.expr(root) {
                Expr::Select { .. } if matches!(self.reference(root), Reference::Type(_)) => break,
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
            Reference::Type(ty) if steps.is_empty() => match type_value(&ty) {
                Some(name) => self.literal(Value::Type(TypeName(name))),
                None => self.tasks.push(undefined_type(&format!("{ty:#}"))),
            },
            Reference::Local(_) if self.is_type(root) => {
                if let Expr::Ident(variable) = self.ast.expr(root) {
                    self.tasks.push(undefined_type(variable));
                }
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
                tasks.extend(self.step_tasks(&steps, own, true, conditional));
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
        let tasks = self.step_tasks(steps, own, may_fail, false);
        self.then(tasks);
    }

    /// The accesses of a chain whose root is on the stack. `own` is charged at the end; `free`: nothing for
    /// a test.
    fn step_tasks(&mut self, steps: &[Step], own: u32, may_fail: bool, free: bool) -> Vec<Task> {
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
                    let access = Access { optional: *optional, test: *test, free: free && *test, exit };
                    tasks.push(Task::Op(Op::Field { key, access }));
                }
                Step::Element { key, optional } => {
                    let access = Access { optional: *optional, test: false, free: false, exit };
                    tasks.push(Task::Value(*key, Charged::Partly));
                    tasks.push(Task::Element(access));
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
}

impl Generator<'_> {
    /// An access by a key; a constant must be of a kind that can be one.
    pub(super) fn element(&mut self, access: Access) -> Result<(), CompileError> {
        if let Some([key]) = self.literals(1).as_deref() {
            check_qualifier(key).map_err(|reason| CompileError::Instantiation { reason })?;
        }
        self.emit(Op::Element { access });
        Ok(())
    }
}

/// The name of a type that can be a value.
fn type_value(ty: &Type) -> Option<&'static str> {
    Some(match ty {
        Type::Null => "null_type",
        Type::Bool => "bool",
        Type::Bytes => "bytes",
        Type::Double => "double",
        Type::Int => "int",
        Type::String => "string",
        Type::Uint => "uint",
        Type::Duration => "google.protobuf.Duration",
        Type::Timestamp => "google.protobuf.Timestamp",
        Type::List(_) => "list",
        Type::Map(_) => "map",
        Type::Optional(_) => "optional_type",
        Type::Meta(_) => "type",
        Type::Object(name) if *ty == IP || *ty == CIDR => name,
        _ => return None,
    })
}
