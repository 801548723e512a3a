//! The machine that runs a [`Program`]: a loop over flat code with its own stack, so that no
//! expression can exhaust the thread's.

use std::sync::Arc;

use smallvec::SmallVec;

use super::cost::{self, COST_LIMIT, Meter};
use super::device::DeviceInput;
use super::error::EvalError;
use super::library;
use super::program::{Access, Op, Path, Program};
use super::value::{List, Map, Outcome, Shared, Text, Value};

impl Program {
    /// Whether the device satisfies the selector.
    ///
    /// # Errors
    /// The evaluation fails or its result is no truth value.
    pub fn matches(&self, device: &DeviceInput<'_>) -> Result<bool, EvalError> {
        let mut meter = Meter::new(COST_LIMIT);
        match self.run(device, &mut meter)? {
            Value::Bool(value) => Ok(value),
            other => Err(not_bool(&other)),
        }
    }

    /// The value of the expression on a device.
    ///
    /// # Errors
    /// The evaluation fails.
    pub fn evaluate<'a>(&'a self, device: &'a DeviceInput<'a>) -> Result<Value<'a>, EvalError> {
        self.run(device, &mut Meter::new(COST_LIMIT))
    }

    /// What an evaluation on a device costs, whether it fails or not, and how it ends.
    pub fn cost<'a>(&'a self, device: &'a DeviceInput<'a>) -> (u64, Result<Value<'a>, EvalError>) {
        let mut meter = Meter::new(COST_LIMIT);
        let result = self.run(device, &mut meter);
        (meter.cost, result)
    }

    fn run<'a>(&'a self, device: &'a DeviceInput<'a>, meter: &mut Meter) -> Result<Value<'a>, EvalError> {
        device.validate().map_err(unshare)?;
        let mut machine = Machine {
            program: self,
            device,
            stack: SmallVec::new(),
            locals: SmallVec::from_elem(None, self.locals),
            loops: SmallVec::new(),
            returns: SmallVec::new(),
        };
        let mut at = 0;
        while let Some(op) = self.ops.get(at) {
            at = machine.step(op, at, meter)?;
        }
        machine.pop().map_err(unshare)
    }
}

fn unshare(error: Arc<EvalError>) -> EvalError {
    Arc::unwrap_or_clone(error)
}

/// How Go words the conversion of a value to bool that fails.
fn not_bool(value: &Value<'_>) -> EvalError {
    let found = value.type_name().to_owned();
    let reason = match value {
        Value::String(_) => "unsupported native conversion from string to 'bool'".to_owned(),
        Value::Int(_) | Value::Uint(_) | Value::Double(_) => {
            format!("unsupported type conversion from '{found}' to bool")
        }
        Value::Semver(_) => "type conversion error from 'Semver' to 'bool'".to_owned(),
        Value::Quantity { .. } => "type conversion error from 'Quantity' to 'bool'".to_owned(),
        _ => format!("type conversion error from {found} to 'bool'"),
    };
    EvalError::NotBool { found, reason }
}

/// A loop in progress.
enum Items<'a> {
    List(List<'a>),
    Entries(Vec<(Value<'a>, Value<'a>)>),
}

struct Machine<'a> {
    program: &'a Program,
    device: &'a DeviceInput<'a>,
    stack: SmallVec<[Outcome<'a>; 6]>,
    locals: SmallVec<[Option<Outcome<'a>>; 3]>,
    loops: SmallVec<[(Items<'a>, usize); 2]>,
    returns: SmallVec<[(usize, u32); 4]>,
}

impl<'a> Machine<'a> {
    fn push(&mut self, value: Outcome<'a>) {
        self.stack.push(value);
    }

    /// The code leaves a value for each that it takes.
    fn pop(&mut self) -> Outcome<'a> {
        self.stack.pop().unwrap_or(Ok(Value::Null))
    }

    fn local(&self, slot: u32) -> Outcome<'a> {
        self.locals.get(slot as usize).cloned().flatten().unwrap_or(Ok(Value::Null))
    }

    fn store(&mut self, slot: u32, value: Option<Outcome<'a>>) {
        if let Some(local) = self.locals.get_mut(slot as usize) {
            *local = value;
        }
    }

    /// Does one instruction and says which is next.
    fn step(&mut self, op: &'a Op, at: usize, meter: &mut Meter) -> Result<usize, EvalError> {
        let mut next = at + 1;
        match op {
            Op::Const { index, cost, .. } => {
                self.push(Ok(borrowed(&self.program.constants[*index as usize])));
                meter.charge(u64::from(*cost))?;
            }
            Op::Path { index, cost, test } => {
                let value = path(self.device, &self.program.paths[*index as usize], *test);
                self.push(value);
                meter.charge(u64::from(*cost))?;
            }
            Op::Call { function, overload, count } => self.call(*function, *overload, *count, meter)?,
            Op::Logical(value) => self.push(Ok(Value::Bool(*value))),
            Op::Merge { decisive, exit } => {
                if self.merge(*decisive) {
                    next = *exit as usize;
                }
            }
            Op::Jump(target) => next = *target as usize,
            Op::Charge(cost) => meter.charge(u64::from(*cost))?,
            Op::Local { slot, cost } => {
                self.push(self.local(*slot));
                meter.charge(u64::from(*cost))?;
            }
            Op::Lazy { slot, init, cost } => {
                if self.locals.get(*slot as usize).is_some_and(Option::is_some) {
                    self.push(self.local(*slot));
                    meter.charge(u64::from(*cost))?;
                } else {
                    self.returns.push((next, *cost));
                    next = *init as usize;
                }
            }
            Op::Return { slot } => {
                let value = self.pop();
                self.store(*slot, Some(value.clone()));
                self.push(value);
                let (back, cost) = self.returns.pop().unwrap_or((usize::MAX, 0));
                meter.charge(u64::from(cost))?;
                next = back;
            }
            Op::Reset { slot } => self.store(*slot, None),
            Op::Root { exit } => {
                if matches!(self.stack.last(), Some(Err(_) | Ok(Value::Optional(None)))) {
                    next = *exit as usize;
                }
            }
            Op::Field { key, access } => {
                let key = borrowed(&self.program.constants[*key as usize]);
                next = self.access(Ok(key), *access, 1, next, meter)?;
            }
            Op::Element { access, cost } => {
                let key = self.pop();
                next = self.access(key, *access, *cost, next, meter)?;
            }
            Op::Present => {
                if let Some(Ok(Value::Optional(value))) = self.stack.last() {
                    let present = value.is_some();
                    self.pop().ok();
                    self.push(Ok(Value::Bool(present)));
                }
            }
            Op::Branch { otherwise, exit } => next = self.branch(next, *otherwise, *exit),
            Op::Strict { count, exit } => {
                if matches!(self.stack.last(), Some(Err(_))) {
                    let failure = self.pop();
                    self.drop_values(*count - 1);
                    self.push(failure);
                    next = *exit as usize;
                }
            }
            Op::Matches { regex, pattern } => self.matches(*regex, *pattern, meter)?,
            Op::InSet { set } => self.in_set(*set),
            Op::OrElse { unwrap, exit } => next = self.or_else(*unwrap, next, *exit),
            Op::List { count, optional } => self.make_list(*count, optional, meter)?,
            Op::Map { count, optional } => self.make_map(*count, optional, meter)?,
            Op::Loop { exit } => next = self.begin_loop(next, *exit),
            Op::Next { slots, pair, done } => next = self.next(*slots, *pair, next, *done),
            Op::While { done } => {
                if matches!(self.pop(), Ok(Value::Bool(false))) {
                    self.loops.pop();
                    next = *done as usize;
                }
            }
            Op::Store { slot } => {
                let value = self.pop();
                self.store(*slot, Some(value));
            }
            Op::Append { slot } => self.append(*slot, meter)?,
            Op::Insert { slot, pair } => self.insert(*slot, *pair, meter)?,
        }
        Ok(next)
    }

    fn drop_values(&mut self, count: u32) {
        self.stack.truncate(self.stack.len().saturating_sub(count as usize));
    }

    /// The topmost values, in order, taken off the stack.
    fn take(&mut self, count: u32) -> SmallVec<[Outcome<'a>; 4]> {
        let start = self.stack.len().saturating_sub(count as usize);
        self.stack.drain(start..).collect()
    }

    fn call(
        &mut self,
        function: super::functions::Function,
        overload: Option<&'static str>,
        count: u32,
        meter: &mut Meter,
    ) -> Result<(), EvalError> {
        let args = self.take(count);
        let failure = args.iter().find_map(|arg| arg.as_ref().err()).cloned();
        let not_strict = function == super::functions::Function::NotStrictlyFalse;
        let result = match (failure, not_strict) {
            (_, true) => Ok(Value::Bool(!matches!(args.first(), Some(Ok(Value::Bool(false)))))),
            (Some(failure), _) => Err(failure),
            _ => {
                let values: SmallVec<[Value<'a>; 4]> =
                    args.iter().filter_map(|arg| arg.clone().ok()).collect();
                library::call(function, overload, &values, meter)
            }
        };
        meter.charge(cost::of_call(function, overload, &args, &result))?;
        self.push(result);
        Ok(())
    }

    /// Whether the term on the stack decides.
    fn merge(&mut self, decisive: bool) -> bool {
        let term = self.pop();
        let Some(so_far) = self.stack.last_mut() else { return true };
        match term {
            Ok(Value::Bool(value)) if value == decisive => {
                *so_far = Ok(Value::Bool(decisive));
                return true;
            }
            Ok(Value::Bool(_)) => {}
            failure if so_far.is_ok() => *so_far = failure.and_then(|_| EvalError::overload()),
            _ => {}
        }
        false
    }

    fn branch(&mut self, next: usize, otherwise: u32, exit: u32) -> usize {
        match self.pop() {
            Ok(Value::Bool(true)) => next,
            Ok(Value::Bool(false)) => otherwise as usize,
            other => {
                self.push(other.and_then(|_| EvalError::overload()));
                exit as usize
            }
        }
    }

    fn or_else(&mut self, unwrap: bool, next: usize, exit: u32) -> usize {
        match self.pop() {
            Ok(Value::Optional(None)) => return next,
            Ok(Value::Optional(Some(value))) if unwrap => self.push(Ok((*value).clone())),
            value @ (Ok(Value::Optional(_)) | Err(_)) => self.push(value),
            Ok(_) => self.push(EvalError::overload()),
        }
        exit as usize
    }

    /// Replaces the value on the stack by its element. An optional's is optional.
    fn access(
        &mut self,
        key: Outcome<'a>,
        access: Access,
        cost: u32,
        next: usize,
        meter: &mut Meter,
    ) -> Result<usize, EvalError> {
        let (value, optional) = match self.pop() {
            Ok(Value::Optional(Some(value))) => ((*value).clone(), true),
            Ok(value) => (value, access.optional),
            Err(failure) => {
                self.push(Err(failure));
                return Ok(access.exit as usize);
            }
        };
        let found = key.and_then(|key| element(&value, &key, optional || access.test));
        let (result, charged) = match found {
            Err(failure) => (Err(failure), !optional),
            Ok(found) if access.test && !optional => (Ok(Value::Bool(found.is_some())), true),
            Ok(None) => (Ok(Value::Optional(None)), false),
            Ok(Some(value)) if optional => (Ok(Value::some(value)), true),
            Ok(Some(value)) => (Ok(value), true),
        };
        let ends = matches!(result, Err(_) | Ok(Value::Optional(None)));
        self.push(result);
        if charged {
            meter.charge(u64::from(cost))?;
        }
        Ok(if ends { access.exit as usize } else { next })
    }

    fn matches(&mut self, regex: u32, pattern: u32, meter: &mut Meter) -> Result<(), EvalError> {
        let pattern = borrowed(&self.program.constants[pattern as usize]);
        let args = [self.pop(), Ok(pattern)];
        let result = match &args[0] {
            Ok(Value::String(text)) => Ok(Value::Bool(self.program.regexes[regex as usize].is_match(text))),
            Ok(_) => Err(Arc::new(EvalError::NoSuchOverload { call: Some("matches".to_owned()) })),
            Err(failure) => Err(Arc::clone(failure)),
        };
        let function = super::functions::Function::Matches;
        meter.charge(cost::of_call(function, Some("matches_string"), &args, &result))?;
        self.push(result);
        Ok(())
    }

    fn in_set(&mut self, set: u32) {
        let set = &self.program.sets[set as usize];
        let found = self.pop().and_then(|value| match (&value, value.key()) {
            (_, Some(key)) => Ok(Value::Bool(set.contains(&key))),
            (Value::Semver(_) | Value::Bytes(_), None) => EvalError::operation(library::unhashable(&value)),
            _ => Ok(Value::Bool(false)),
        });
        self.push(found);
    }

    fn make_list(&mut self, count: u32, optional: &[bool], meter: &mut Meter) -> Result<(), EvalError> {
        let mut values = Vec::with_capacity(count as usize);
        let mut result = Ok(());
        for (at, value) in self.take(count).into_iter().enumerate() {
            result = match (value, optional.get(at)) {
                (Err(failure), _) => Err(failure),
                (Ok(Value::Optional(value)), Some(true)) => {
                    values.extend(value.map(|value| (*value).clone()));
                    Ok(())
                }
                (Ok(value), Some(true)) => EvalError::operation(format!(
                    "cannot initialize optional list element from non-optional value {value}"
                )),
                (Ok(value), _) => {
                    values.push(value);
                    Ok(())
                }
            };
            if result.is_err() {
                break;
            }
        }
        self.push(result.map(|()| Value::list(values)));
        meter.charge(cost::LIST)
    }

    fn make_map(&mut self, count: u32, optional: &[bool], meter: &mut Meter) -> Result<(), EvalError> {
        let mut entries = super::value::Entries::new();
        let mut values = self.take(count * 2).into_iter();
        let mut result = Ok(());
        for optional in optional {
            let (Some(key), Some(value)) = (values.next(), values.next()) else { break };
            result = key.and_then(|key| Ok((key, value?))).and_then(|(key, value)| {
                let value = match value {
                    value if !optional => Some(value),
                    Value::Optional(value) => value.map(|value| (*value).clone()),
                    value => {
                        return EvalError::operation(format!(
                            "cannot initialize optional entry '{key}' from non-optional value {value}"
                        ));
                    }
                };
                let Some(hash) = key.key() else {
                    return EvalError::operation(library::unhashable(&key));
                };
                match value {
                    Some(value) => entries.insert(hash, (key, value)),
                    None => entries.remove(&hash),
                };
                Ok(())
            });
            if result.is_err() {
                break;
            }
        }
        self.push(result.map(|()| Value::Map(Map::new(entries))));
        meter.charge(cost::MAP)
    }

    fn begin_loop(&mut self, next: usize, exit: u32) -> usize {
        let items = match self.pop() {
            Ok(Value::List(list)) => Items::List(list),
            Ok(Value::Map(map)) => Items::Entries(map.entries()),
            Ok(other) => {
                self.push(EvalError::operation(not_iterable(&other)));
                return exit as usize;
            }
            Err(failure) => {
                self.push(Err(failure));
                return exit as usize;
            }
        };
        self.loops.push((items, 0));
        next
    }

    fn next(&mut self, slots: [u32; 2], pair: bool, next: usize, done: u32) -> usize {
        let Some((items, at)) = self.loops.last_mut() else { return done as usize };
        let index = i64::try_from(*at).unwrap_or(i64::MAX);
        let item = match items {
            Items::List(list) => list.get(*at).map(|value| (Value::Int(index), value)),
            Items::Entries(entries) => entries.get(*at).cloned(),
        };
        let list = matches!(items, Items::List(_));
        *at += 1;
        let Some((key, value)) = item else {
            self.loops.pop();
            return done as usize;
        };
        let (first, second) = if pair || !list { (key, value) } else { (value, Value::Null) };
        self.store(slots[0], Some(Ok(first)));
        if pair {
            self.store(slots[1], Some(Ok(second)));
        }
        next
    }

    /// The accumulator, taken out so that it can grow in place. The step stores it again.
    fn accumulator(&mut self, slot: u32) -> Outcome<'a> {
        self.locals.get_mut(slot as usize).and_then(Option::take).unwrap_or(Ok(Value::Null))
    }

    fn append(&mut self, slot: u32, meter: &mut Meter) -> Result<(), EvalError> {
        let value = self.pop();
        let grown = match (self.accumulator(slot), value) {
            (Err(failure), _) | (_, Err(failure)) => Err(failure),
            (Ok(Value::List(List::Values(mut values))), Ok(value)) => {
                if Arc::get_mut(&mut values).is_none() {
                    meter.work(values.len()).map_err(unshare)?;
                }
                Arc::make_mut(&mut values).push(value);
                Ok(Value::List(List::Values(values)))
            }
            _ => EvalError::overload(),
        };
        self.push(grown);
        meter.charge(cost::SELECT + cost::LIST + 1)
    }

    fn insert(&mut self, slot: u32, pair: bool, meter: &mut Meter) -> Result<(), EvalError> {
        let value = self.pop();
        let key = if pair { Some(self.pop()) } else { None };
        let failed = |outcome: &Outcome<'a>| outcome.as_ref().err().cloned();
        let failure = key.as_ref().and_then(failed).or_else(|| failed(&value));
        let grown = match (self.accumulator(slot), failure, value) {
            (Err(failure), ..) | (_, Some(failure), _) => Err(failure),
            (Ok(Value::Map(Map::Entries(mut entries))), None, Ok(value)) => {
                if Arc::get_mut(&mut entries).is_none() {
                    meter.work(entries.len()).map_err(unshare)?;
                }
                let added = match (key, value) {
                    (Some(Ok(key)), value) => library::insert(Arc::make_mut(&mut entries), key, value),
                    (_, Value::Map(more)) => more.entries().into_iter().try_for_each(|(key, value)| {
                        library::insert(Arc::make_mut(&mut entries), key, value)
                    }),
                    _ => EvalError::overload(),
                };
                added.map(|()| Value::Map(Map::Entries(entries)))
            }
            _ => EvalError::overload(),
        };
        self.push(grown);
        meter.charge(cost::SELECT + 1)
    }
}

/// A constant without its reference count being touched, where that matters.
fn borrowed<'a>(constant: &'a Value<'static>) -> Value<'a> {
    match constant {
        Value::String(text) => Value::String(Text::Borrowed(text)),
        Value::Semver(text) => Value::Semver(Text::Borrowed(text)),
        Value::Quantity { amount, computed } => {
            Value::Quantity { amount: Shared::Borrowed(amount), computed: *computed }
        }
        other => other.clone(),
    }
}

fn path<'a>(device: &'a DeviceInput<'a>, path: &'a Path, test: bool) -> Outcome<'a> {
    let value = match path {
        Path::Whole => Some(device.whole()),
        Path::Driver => device.field("driver"),
        Path::MultipleAllocations => device.field("allowMultipleAllocations"),
        Path::Section(section) => Some(device.section(*section)),
        Path::Domain(section, domain) => Some(device.domain(*section, Text::Borrowed(domain))),
        Path::Member { section, domain, id, key } => {
            let value = device.member(*section, domain, id, key);
            if value.is_none() && !test {
                return Err(Arc::new(EvalError::NoSuchKey { key: id.to_string() }));
            }
            value
        }
    };
    if test { Ok(Value::Bool(value.is_some())) } else { Ok(value.unwrap_or(Value::Null)) }
}

/// The element of a value. `None` if it has none and `lenient`.
fn element<'a>(
    value: &Value<'a>,
    key: &Value<'a>,
    lenient: bool,
) -> Result<Option<Value<'a>>, Arc<EvalError>> {
    let found = match value {
        Value::Map(map) => map.find(key),
        Value::List(list) => {
            let index = match key {
                Value::Int(index) => Some(*index),
                Value::Uint(index) => i64::try_from(*index).ok(),
                #[allow(clippy::cast_possible_truncation)]
                Value::Double(index) if index.trunc() == *index && index.abs() < 1e18 => Some(*index as i64),
                Value::Double(index) => {
                    return EvalError::operation(format!("unsupported index value {index} in list"));
                }
                other => {
                    let name = other.type_name();
                    return EvalError::operation(format!("unsupported index type '{name}' in list"));
                }
            };
            let found = index.and_then(|index| usize::try_from(index).ok()).and_then(|at| list.get(at));
            if found.is_none() && !lenient {
                return EvalError::operation(format!("index out of bounds: {key}"));
            }
            found
        }
        _ => None,
    };
    if found.is_none() && !lenient {
        return Err(Arc::new(EvalError::NoSuchKey { key: key.to_string() }));
    }
    Ok(found)
}

fn not_iterable(value: &Value<'_>) -> String {
    let go = match value {
        Value::Null => "types.Null",
        Value::Bool(_) => "types.Bool",
        Value::Int(_) => "types.Int",
        Value::Uint(_) => "types.Uint",
        Value::Double(_) => "types.Double",
        Value::String(_) => "types.String",
        Value::Bytes(_) => "types.Bytes",
        Value::Optional(_) => "*types.Optional",
        Value::Semver(_) => "cel.Semver",
        Value::Quantity { computed: true, .. } => "*cel.Quantity",
        Value::Quantity { .. } => "cel.Quantity",
        _ => "*types.Type",
    };
    format!("got '{go}', expected iterable type")
}
