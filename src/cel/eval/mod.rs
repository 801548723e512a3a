//! The machine that runs a [`Program`]: a loop over flat code with its own stack, so that no
//! expression can exhaust the thread's.

mod collections;
mod steps;

use std::sync::Arc;

use smallvec::SmallVec;

use self::collections::Items;
pub(super) use self::steps::check_qualifier;
use self::steps::{borrowed, path};
use super::cost::{COST_LIMIT, Meter};
use super::device::DeviceInput;
use super::error::EvalError;
use super::program::{Op, Program};
use super::value::{DEPTH_MAX, Outcome, Value};

impl Program {
    /// Whether the device satisfies the selector.
    ///
    /// # Errors
    /// The evaluation fails or its result is no truth value.
    pub fn matches(&self, device: &DeviceInput<'_>) -> Result<bool, EvalError> {
        let mut meter = Meter::new(COST_LIMIT);
        let value = self.run(device, &mut meter)?;
        let mut inner = &value;
        while let Value::Optional(Some(within)) = inner {
            inner = within;
        }
        match inner {
            Value::Bool(value) => Ok(*value),
            inner => Err(not_bool(&value, inner)),
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

/// How Go words the conversion to bool that fails, of what is in an optional if the value is one.
fn not_bool(value: &Value<'_>, inner: &Value<'_>) -> EvalError {
    let found = inner.type_name();
    let reason = match inner {
        Value::Optional(_) => "optional.none() dereference".to_owned(),
        Value::String(_) => "unsupported native conversion from string to 'bool'".to_owned(),
        Value::Int(_) | Value::Uint(_) => format!("unsupported type conversion from '{found}' to bool"),
        Value::Double(_) => "type conversion error from Double to 'bool'".to_owned(),
        Value::Bytes(_) => "type conversion error from Bytes to 'bool'".to_owned(),
        Value::Null => "type conversion error from 'null_type' to 'bool'".to_owned(),
        Value::Type(_) => "type conversion not supported for 'type'".to_owned(),
        Value::Semver(_) => "type conversion error from 'Semver' to 'bool'".to_owned(),
        Value::Quantity { .. } => "type conversion error from 'Quantity' to 'bool'".to_owned(),
        Value::Duration(_) => "type conversion error from 'Duration' to 'bool'".to_owned(),
        Value::Timestamp(_) => "type conversion error from 'Timestamp' to 'bool'".to_owned(),
        Value::Ip(_) => "type conversion error from 'IP' to 'bool'".to_owned(),
        Value::Cidr(_) => "type conversion error from 'CIDR' to 'bool'".to_owned(),
        Value::Url(_) => "type conversion error from 'URL' to 'bool'".to_owned(),
        Value::Format(_) => "type conversion error from 'Format' to 'bool'".to_owned(),
        _ => format!("type conversion error from {found} to 'bool'"),
    };
    EvalError::NotBool { found: value.type_name().to_owned(), reason }
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
        let too_deep = matches!(&value, Ok(value) if value.depth() > DEPTH_MAX);
        self.stack.push(if too_deep { Err(Arc::new(EvalError::CostLimit)) } else { value });
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
            Op::Lazy { slot, init, cost } => next = self.lazy(*slot, (next, *cost), *init, meter)?,
            Op::Return { slot } => next = self.give_back(*slot, meter)?,
            Op::Reset { slot } => self.store(*slot, None),
            Op::Root { exit } => {
                if matches!(self.stack.last(), Some(Err(_) | Ok(Value::Optional(None)))) {
                    next = *exit as usize;
                }
            }
            Op::Field { key, access } => {
                let key = borrowed(&self.program.constants[*key as usize]);
                next = self.access(Ok(key), *access, next, meter)?;
            }
            Op::Element { access } => {
                let key = self.pop();
                next = self.access(key, *access, next, meter)?;
            }
            Op::Present => self.present(),
            Op::Branch { otherwise, exit } => next = self.branch(next, *otherwise, *exit),
            Op::Strict { count, exit } => {
                if self.stops(*count) {
                    next = *exit as usize;
                }
            }
            Op::Regex { .. } => self.regex(op, meter)?,
            Op::InSet { set } => self.in_set(*set)?,
            Op::OrElse { unwrap, lenient, exit } => next = self.or_else(*unwrap, *lenient, next, *exit),
            Op::List { count, optional } => self.make_list(*count, optional),
            Op::Map { count, optional } => self.make_map(*count, optional)?,
            Op::Loop { pair, exit } => next = self.begin_loop(*pair, next, *exit),
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
            Op::Append { slot, cost } => {
                self.append(*slot, meter)?;
                meter.charge(u64::from(*cost))?;
            }
            Op::Insert { slot, pair } => self.insert(*slot, *pair, meter)?,
        }
        Ok(next)
    }

    /// Pushes a binding's value, or begins to make it; `back` says where to go on and what it costs.
    fn lazy(
        &mut self,
        slot: u32,
        back: (usize, u32),
        init: u32,
        meter: &mut Meter,
    ) -> Result<usize, EvalError> {
        if self.locals.get(slot as usize).is_none_or(Option::is_none) {
            self.returns.push(back);
            return Ok(init as usize);
        }
        self.push(self.local(slot));
        meter.charge(u64::from(back.1))?;
        Ok(back.0)
    }

    /// Keeps the value on the stack as a binding's, and goes on where it was asked for.
    fn give_back(&mut self, slot: u32, meter: &mut Meter) -> Result<usize, EvalError> {
        let value = self.pop();
        self.store(slot, Some(value.clone()));
        self.push(value);
        let (back, cost) = self.returns.pop().unwrap_or((usize::MAX, 0));
        meter.charge(u64::from(cost))?;
        Ok(back)
    }

    /// The answer of `has` on an optional.
    fn present(&mut self) {
        if let Some(Ok(Value::Optional(value))) = self.stack.last() {
            let present = Value::Bool(value.is_some());
            self.stack.pop();
            self.push(Ok(present));
        }
    }

    /// Whether the last of `count` arguments is a failure, which then stands for all of them.
    fn stops(&mut self, count: u32) -> bool {
        if !matches!(self.stack.last(), Some(Err(_))) {
            return false;
        }
        let failure = self.pop();
        self.drop_values(count - 1);
        self.push(failure);
        true
    }

    fn drop_values(&mut self, count: u32) {
        self.stack.truncate(self.stack.len().saturating_sub(count as usize));
    }

    /// The topmost values, in order, taken off the stack.
    fn take(&mut self, count: u32) -> SmallVec<[Outcome<'a>; 4]> {
        let start = self.stack.len().saturating_sub(count as usize);
        self.stack.drain(start..).collect()
    }
}
