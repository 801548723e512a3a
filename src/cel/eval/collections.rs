//! Lists, maps and loops of the machine.

use std::sync::Arc;

use super::Machine;
use crate::cel::cost::Meter;
use crate::cel::error::EvalError;
use crate::cel::library;
use crate::cel::value::{Entries, List, Map, Outcome, Value};

/// A loop in progress.
pub(super) enum Items<'a> {
    List(List<'a>),
    Entries(Vec<(Value<'a>, Value<'a>)>),
}

impl<'a> Machine<'a> {
    /// A list of the topmost values.
    pub(super) fn make_list(&mut self, count: u32, optional: &[bool]) {
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
    }

    /// A map of the topmost keys and values.
    pub(super) fn make_map(&mut self, count: u32, optional: &[bool]) -> Result<(), EvalError> {
        let mut entries = Entries::new();
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
                let hash = library::map_key(&key, &entries)?;
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
        if let Err(failure) = &result {
            library::unrecoverable(failure)?;
        }
        self.push(result.map(|()| Value::Map(Map::new(entries))));
        Ok(())
    }

    pub(super) fn begin_loop(&mut self, pair: bool, next: usize, exit: u32) -> usize {
        let items = match self.pop() {
            Ok(Value::List(list)) => Items::List(list),
            Ok(Value::Map(map)) => Items::Entries(map.entries()),
            Ok(other) => {
                self.push(EvalError::operation(not_iterable(&other, pair)));
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

    pub(super) fn next(&mut self, slots: [u32; 2], pair: bool, next: usize, done: u32) -> usize {
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

    pub(super) fn append(&mut self, slot: u32, meter: &mut Meter) -> Result<(), EvalError> {
        let value = self.pop();
        let grown = match (self.accumulator(slot), value) {
            (Err(failure), _) | (_, Err(failure)) => Err(failure),
            (Ok(Value::List(List::Values(mut values))), Ok(value)) => {
                if Arc::get_mut(&mut values).is_none() {
                    meter.elements(values.items.len()).map_err(Arc::unwrap_or_clone)?;
                }
                let list = Arc::make_mut(&mut values);
                list.depth = list.depth.max(1 + value.depth());
                list.items.push(value);
                Ok(Value::List(List::Values(values)))
            }
            _ => EvalError::overload(),
        };
        self.push(grown);
        Ok(())
    }

    pub(super) fn insert(&mut self, slot: u32, pair: bool, meter: &mut Meter) -> Result<(), EvalError> {
        let value = self.pop();
        let key = if pair { Some(self.pop()) } else { None };
        let failed = |outcome: &Outcome<'a>| outcome.as_ref().err().cloned();
        let failure = key.as_ref().and_then(failed).or_else(|| failed(&value));
        let grown = match (self.accumulator(slot), failure, value) {
            (Err(failure), ..) | (_, Some(failure), _) => Err(failure),
            (Ok(Value::Map(Map::Entries(mut entries))), None, Ok(value)) => {
                if Arc::get_mut(&mut entries).is_none() {
                    meter.elements(entries.items.len()).map_err(Arc::unwrap_or_clone)?;
                }
                let map = Arc::make_mut(&mut entries);
                let added = match (key, value) {
                    (Some(Ok(key)), value) => {
                        map.depth = map.depth.max(1 + value.depth());
                        library::insert(&mut map.items, key, value)
                    }
                    (_, Value::Map(more)) => more.entries().into_iter().try_for_each(|(key, value)| {
                        map.depth = map.depth.max(1 + value.depth());
                        library::insert(&mut map.items, key, value)
                    }),
                    _ => EvalError::overload(),
                };
                added.map(|()| Value::Map(Map::Entries(entries)))
            }
            _ => EvalError::overload(),
        };
        self.push(grown);
        meter.charge(1)
    }
}

fn not_iterable(value: &Value<'_>, pair: bool) -> String {
    let go = go_type(value);
    if pair {
        return format!("unsupported comprehension range type: {go}");
    }
    format!("got '{go}', expected iterable type")
}

/// The name of a value's type in Go, which some failures tell.
pub(super) fn go_type(value: &Value<'_>) -> &'static str {
    match value {
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
        Value::Duration(_) => "types.Duration",
        Value::Timestamp(_) => "types.Timestamp",
        Value::Ip(_) => "cel.IP",
        Value::Cidr(_) => "cel.CIDR",
        Value::Url(_) => "cel.URL",
        Value::Format(_) => "cel.Format",
        Value::List(_) => "*types.baseList",
        Value::Map(_) => "*types.baseMap",
        Value::Type(_) => "*types.Type",
    }
}
