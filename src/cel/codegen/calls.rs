//! Calls: what can be made now becomes a constant, with what upstream charges for it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Charged, Generator, Task, index};
use crate::cel::ast::{Expr, ExprId, Literal};
use crate::cel::checker::Reference;
use crate::cel::cost::{self, LIST, MAP, Meter};
use crate::cel::error::CompileError;
use crate::cel::functions::{Function, OLDER_OR, OLDER_OR_VALUE};
use crate::cel::library;
use crate::cel::program::{Op, Target};
use crate::cel::value::{Entries, Map, Outcome, Value};

/// The most that calls folded into one constant may have cost.
const FOLDED_MAX: u64 = 10_000;

impl Generator<'_> {
    /// A call of a function or operator.
    pub(super) fn function(&mut self, id: ExprId, target: Option<ExprId>, args: &[ExprId], charged: Charged) {
        let Reference::Call { function, overload, namespaced, .. } = *self.reference(id) else { return };
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
                let lenient = matches!(overload, Some(OLDER_OR | OLDER_OR_VALUE));
                let or_else = Task::Op(Op::OrElse { unwrap, lenient, exit });
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
            (Function::FindAll, [pattern, most])
                if let (Expr::Literal(Literal::String(pattern)), Some(overload), Some(text)) =
                    (self.ast.expr(*pattern), overload, target) =>
            {
                let exit = self.label();
                let find = Task::FindAll(Arc::clone(pattern), overload);
                self.then([full(text), Task::Strict(1, exit), full(*most), find, Task::Label(exit)]);
            }
            _ => {
                let target = target.filter(|_| !namespaced);
                let args: Vec<_> = target.into_iter().chain(args.iter().copied()).collect();
                // With two arguments, cel-go stops at a failure only where it looks for the signature
                // at run time, or where the function is bound as one of any number of arguments.
                let dynamic = overload.is_none() && !is_operator(function);
                let stops = args.len() > 2 || args.len() == 2 && (dynamic || function == Function::Format);
                let exit = self.label();
                let mut tasks = Self::arguments(&args, stops.then_some(exit));
                tasks.push(Task::Call { function, overload, count: index(args.len()) });
                tasks.push(Task::Label(exit));
                self.then(tasks);
            }
        }
    }

    /// The topmost constants, if that is all that the last `count` instructions push.
    pub(super) fn constants(&self, count: u32) -> Option<Vec<(u32, u32, bool)>> {
        let start = self.ops.len().checked_sub(count as usize).filter(|start| *start >= self.barrier)?;
        self.ops[start..]
            .iter()
            .map(|op| match op {
                Op::Const { index, cost, literal } => Some((*index, *cost, *literal)),
                _ => None,
            })
            .collect()
    }

    /// Calls a function now, if its arguments are constants and it does not fail.
    pub(super) fn call(
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
        let by_pattern = matches!(function, Function::Matches | Function::Find | Function::FindAll);
        if by_pattern && count == 2 && self.pattern(function, overload)? {
            return Ok(());
        }
        self.emit(Op::Call { function, overload, count });
        Ok(())
    }

    /// A call whose second argument is a constant pattern.
    fn pattern(&mut self, function: Function, overload: Option<&'static str>) -> Result<bool, CompileError> {
        let Some([(pattern, 0, true)]) =
            self.constants(1).as_deref().and_then(|c| <[_; 1]>::try_from(c).ok())
        else {
            return Ok(false);
        };
        let Value::String(text) = &self.constants[pattern as usize] else { return Ok(false) };
        let Some(overload) = overload else { return Ok(false) };
        let regex = library::pattern::compile(text);
        let regex = regex.map_err(|reason| CompileError::Instantiation { reason })?;
        self.ops.pop();
        self.regexes.push(regex);
        let regex = index(self.regexes.len() - 1);
        self.emit(Op::Regex { function, regex, pattern, overload, limited: false });
        Ok(true)
    }

    /// `findAll` with a literal pattern, which is not on the stack, and a limit, which is.
    pub(super) fn find_all(&mut self, text: &Arc<str>, overload: &'static str) -> Result<(), CompileError> {
        let regex = library::pattern::compile(text);
        self.regexes.push(regex.map_err(|reason| CompileError::Instantiation { reason })?);
        let regex = index(self.regexes.len() - 1);
        let pattern = self.constant(Value::text(Arc::clone(text)));
        self.emit(Op::Regex { function: Function::FindAll, regex, pattern, overload, limited: true });
        Ok(())
    }

    /// The topmost values, if all are what upstream takes for constants.
    pub(super) fn literals(&self, count: u32) -> Option<Vec<Value<'static>>> {
        let constants = self.constants(count)?;
        let all = constants.iter().all(|(_, _, literal)| *literal);
        all.then(|| constants.iter().map(|(at, ..)| self.constants[*at as usize].clone()).collect())
    }

    /// Makes a list now, if upstream takes it for a constant.
    pub(super) fn list(&mut self, optional: Arc<[bool]>, exit: Target) {
        let count = index(optional.len());
        let plain = !optional.contains(&true);
        if let Some(values) = self.literals(count).filter(|_| plain) {
            self.ops.truncate(self.ops.len() - values.len());
            self.literal(Value::list(values));
        } else {
            self.emit(Op::List { count, optional });
            self.place(exit, false);
            self.emit(Op::Charge(LIST));
        }
    }

    /// Makes a map now, if upstream takes it for a constant.
    pub(super) fn map(&mut self, optional: Arc<[bool]>, exit: Target) {
        let count = index(optional.len());
        let plain = !optional.contains(&true);
        let entries = self.literals(count * 2).filter(|_| plain).and_then(|values| {
            let mut entries = Entries::new();
            for pair in values.chunks(2) {
                let key = library::map_key(&pair[0], &entries).ok()?;
                entries.insert(key, (pair[0].clone(), pair[1].clone()));
            }
            Some(entries)
        });
        if let Some(entries) = entries {
            self.ops.truncate(self.ops.len() - count as usize * 2);
            self.literal(Value::Map(Map::new(entries)));
        } else {
            self.emit(Op::Map { count, optional });
            self.place(exit, false);
            self.emit(Op::Charge(MAP));
        }
    }

    /// `in`, with a set instead of a constant list.
    pub(super) fn membership(&mut self, overload: Option<&'static str>) -> Result<(), CompileError> {
        if overload == Some("in_list")
            && let Some([Value::List(list)]) = self.literals(1).as_deref()
        {
            let simple = |value: &Value<'_>| {
                matches!(
                    value,
                    Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::String(_)
                )
            };
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
            | Function::ToDuration
            | Function::ToDyn
            | Function::ToInt
            | Function::ToString
            | Function::ToTimestamp
            | Function::ToUint
            | Function::TypeOf
    )
}
