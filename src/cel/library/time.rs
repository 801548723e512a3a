//! Durations and timestamps (cel-go's `common/types/duration.go` and `timestamp.go`), read and
//! written as Go's package `time` does.

use std::fmt;
use std::sync::Arc;

use super::{calendar, zones};
use crate::cel::cost::Meter;
use crate::cel::error::EvalError;
use crate::cel::functions::Function;
use crate::cel::value::{Outcome, Value};

const SECOND: i64 = 1_000_000_000;
/// `0001-01-01T00:00:00Z`, the first second that a timestamp may be in.
const FIRST: i64 = -62_135_596_800;
/// `9999-12-31T23:59:59Z`, the last one.
const LAST: i64 = 253_402_300_799;

/// A point in time, with the offset in which it is written. Two are equal if the points are.
#[derive(Clone, Copy, Debug)]
pub struct Timestamp {
    /// Since the Unix epoch.
    pub(in crate::cel) seconds: i64,
    /// Below a second.
    pub(in crate::cel) nanos: u32,
    /// Seconds east of UTC.
    pub(in crate::cel) offset: i32,
}

impl Timestamp {
    /// A point within the years 1 to 9999.
    fn new(seconds: i64, nanos: u32, offset: i32) -> Option<Self> {
        (FIRST..=LAST).contains(&seconds).then_some(Self { seconds, nanos, offset })
    }

    /// For comparison.
    pub(in crate::cel) fn instant(self) -> (i64, u32) {
        (self.seconds, self.nanos)
    }

    /// Go's zero time.
    pub(super) fn is_zero(self) -> bool {
        self.instant() == (FIRST, 0)
    }

    /// Go's `Parse` of the layout `RFC3339`, which lets the hour have one digit.
    fn parse(text: &str) -> Option<Result<Self, Arc<EvalError>>> {
        let mut reader = Reader(text.as_bytes());
        let year = reader.digits(4, 4)?;
        let month = reader.after(b'-')?.digits(2, 2)?;
        let day = reader.after(b'-')?.digits(2, 2)?;
        let hour = reader.after(b'T')?.digits(1, 2)?;
        let minute = reader.after(b':')?.digits(2, 2)?;
        let second = reader.after(b':')?.digits(2, 2)?;
        let nanos = reader.fraction();
        let offset = reader.offset()?;
        let days = calendar::days(year, month, day)?;
        if !reader.0.is_empty() || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - i64::from(offset);
        Some(Self::new(seconds, nanos, offset).map_or_else(overflow, Ok))
    }

    fn plus(self, nanos: i64) -> Result<Self, Arc<EvalError>> {
        let sum = i64::from(self.nanos) + nanos % SECOND;
        let seconds = self.seconds + nanos / SECOND + sum.div_euclid(SECOND);
        let nanos = u32::try_from(sum.rem_euclid(SECOND)).unwrap_or(0);
        Self::new(seconds, nanos, self.offset).map_or_else(overflow, Ok)
    }

    fn minus(self, other: Self) -> Option<i64> {
        let nanos = i64::from(self.nanos) - i64::from(other.nanos);
        (self.seconds - other.seconds).checked_mul(SECOND)?.checked_add(nanos)
    }
}

fn overflow<T>() -> Result<T, Arc<EvalError>> {
    EvalError::operation("timestamp overflow")
}

fn integer_overflow<T>() -> Result<T, Arc<EvalError>> {
    EvalError::operation("integer overflow")
}

impl fmt::Display for Timestamp {
    /// Go's layout `RFC3339Nano`, or with `#` what Go prints in failures.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local = calendar::Local::of(self.seconds + i64::from(self.offset));
        let between = if f.alternate() { ' ' } else { 'T' };
        write!(f, "{:04}-{:02}-{:02}{between}", local.year, local.month, local.day)?;
        write!(f, "{:02}:{:02}:{:02}", local.hour, local.minute, local.second)?;
        if self.nanos > 0 {
            write!(f, ".{}", format!("{:09}", self.nanos).trim_end_matches('0'))?;
        }
        let minutes = self.offset.abs() / 60;
        let sign = if self.offset < 0 { '-' } else { '+' };
        let (hours, minutes) = (minutes / 60, minutes % 60);
        match (f.alternate(), self.offset) {
            (false, 0) => f.write_str("Z"),
            (false, _) => write!(f, "{sign}{hours:02}:{minutes:02}"),
            (true, 0) => f.write_str(" +0000 UTC"),
            (true, _) => write!(f, " {sign}{hours:02}{minutes:02} {sign}{hours:02}{minutes:02}"),
        }
    }
}

/// A duration as Go prints it in failures.
pub(in crate::cel) struct GoDuration(pub(in crate::cel) i64);

impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.unsigned_abs();
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let decimal = |whole: u64, below: u64, digits: usize| {
            let text = format!("{whole}.{below:0digits$}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        };
        match nanos {
            0 => f.write_str("0s"),
            1..1_000 => write!(f, "{nanos}ns"),
            1_000..1_000_000 => write!(f, "{}µs", decimal(nanos / 1_000, nanos % 1_000, 3)),
            1_000_000..1_000_000_000 => write!(f, "{}ms", decimal(nanos / 1_000_000, nanos % 1_000_000, 6)),
            _ => {
                let seconds = nanos / 1_000_000_000;
                if seconds >= 3600 {
                    write!(f, "{}h", seconds / 3600)?;
                }
                if seconds >= 60 {
                    write!(f, "{}m", seconds / 60 % 60)?;
                }
                write!(f, "{}s", decimal(seconds % 60, nanos % 1_000_000_000, 9))
            }
        }
    }
}

/// What is left of a text that is read from its start.
struct Reader<'t>(&'t [u8]);

impl Reader<'_> {
    fn after(&mut self, wanted: u8) -> Option<&mut Self> {
        self.0 = self.0.strip_prefix(&[wanted])?;
        Some(self)
    }

    /// A number of so many digits.
    fn digits(&mut self, least: usize, most: usize) -> Option<i64> {
        let count = self.0.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
        if count < least {
            return None;
        }
        let (digits, rest) = self.0.split_at(count);
        self.0 = rest;
        Some(digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
    }

    /// Nanoseconds after a point or comma; none where no digit follows. Digits after the ninth do
    /// not count.
    fn fraction(&mut self) -> u32 {
        let (Some(b'.' | b','), Some(b'0'..=b'9')) = (self.0.first(), self.0.get(1)) else { return 0 };
        let count = self.0[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let nanos = (1..=9).fold(0, |nanos, at| {
            let digit = if at <= count { self.0[at] - b'0' } else { 0 };
            nanos * 10 + u32::from(digit)
        });
        self.0 = &self.0[1 + count..];
        nanos
    }

    /// `Z` or `±hh:mm`, up to 24:60.
    fn offset(&mut self) -> Option<i32> {
        if self.after(b'Z').is_some() {
            return Some(0);
        }
        let sign = match self.0.first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.0 = &self.0[1..];
        let hours = self.digits(2, 2).filter(|hours| *hours <= 24)?;
        let minutes = self.after(b':')?.digits(2, 2).filter(|minutes| *minutes <= 60)?;
        i32::try_from(sign * (hours * 60 + minutes) * 60).ok()
    }
}

/// Go's `ParseDuration`, in nanoseconds.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn parse_duration(text: &str) -> Option<i64> {
    const MOST: u64 = 1 << 63;
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total: u64 = 0;
    let mut first = true;
    while first || !rest.is_empty() {
        first = false;
        let number = |c: char| c == '.' || c.is_ascii_digit();
        let (whole, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
        let (fraction, after) = match after.strip_prefix('.') {
            Some(more) => more.split_at(more.find(|c: char| !c.is_ascii_digit()).unwrap_or(more.len())),
            None => ("", after),
        };
        let unit_end = after.find(number).unwrap_or(after.len());
        let unit = unit(&after[..unit_end])?;
        rest = &after[unit_end..];
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let whole = if whole.is_empty() { 0 } else { whole.parse().ok().filter(|whole| *whole <= MOST)? };
        if whole > MOST / unit {
            return None;
        }
        let (digits, scale) = leading_fraction(fraction);
        let below = (digits as f64 * (unit as f64 / scale)) as u64;
        total = total.checked_add(whole * unit + below).filter(|total| *total <= MOST)?;
    }
    if negative { Some(total.cast_signed().wrapping_neg()) } else { i64::try_from(total).ok() }
}

/// As many digits of a fraction as fit, and ten to the power of their count.
fn leading_fraction(digits: &str) -> (u64, f64) {
    let mut number: u64 = 0;
    let mut scale = 1.0;
    for digit in digits.bytes() {
        let next = number.checked_mul(10).and_then(|number| number.checked_add(u64::from(digit - b'0')));
        match next.filter(|next| number <= (i64::MAX as u64) / 10 && *next <= 1 << 63) {
            Some(next) => number = next,
            None => break,
        }
        scale *= 10.0;
    }
    (number, scale)
}

fn unit(name: &str) -> Option<u64> {
    Some(match name {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// A duration in units of so many nanoseconds, as Go's floating-point number has it.
#[allow(clippy::cast_precision_loss)]
fn in_units(nanos: i64, unit: i64) -> f64 {
    (nanos / unit) as f64 + (nanos % unit) as f64 / unit as f64
}

/// `string(duration)`
pub(super) fn duration_text(nanos: i64) -> String {
    format!("{}s", in_units(nanos, SECOND))
}

/// `duration(..)`, `timestamp(..)`, and `int` and `string` of these.
pub(super) fn convert<'a>(function: Function, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    let [value] = args else { return None };
    let bad = |to: &str| {
        EvalError::operation(format!("type conversion error from '{}' to '{to}'", value.type_name()))
    };
    Some(match (function, value) {
        (Function::ToDuration, Value::Duration(_)) | (Function::ToTimestamp, Value::Timestamp(_)) => {
            Ok(value.clone())
        }
        (Function::ToDuration, Value::String(text)) => parse_duration(text)
            .map_or_else(|| bad("google.protobuf.Duration"), |nanos| Ok(Value::Duration(nanos))),
        (Function::ToTimestamp, Value::String(text)) => match Timestamp::parse(text) {
            Some(point) => point.map(Value::Timestamp),
            None => bad("google.protobuf.Timestamp"),
        },
        (Function::ToTimestamp, Value::Int(seconds)) => {
            Timestamp::new(*seconds, 0, 0).map_or_else(overflow, |point| Ok(Value::Timestamp(point)))
        }
        (Function::ToInt, Value::Duration(nanos)) => Ok(Value::Int(*nanos)),
        (Function::ToInt, Value::Timestamp(point)) => Ok(Value::Int(point.seconds)),
        (Function::ToString, Value::Duration(nanos)) => Ok(Value::text(duration_text(*nanos))),
        (Function::ToString, Value::Timestamp(point)) => Ok(Value::text(point.to_string())),
        _ => return None,
    })
}

/// `+` and `-` with a duration or timestamp on the left. `None` if they do not know the operator.
pub(super) fn arithmetic<'a>(function: Function, a: &Value<'a>, b: &Value<'a>) -> Option<Outcome<'a>> {
    let whole = |nanos: Option<i64>| nanos.map_or_else(integer_overflow, |nanos| Ok(Value::Duration(nanos)));
    Some(match (function, a, b) {
        (Function::Add, Value::Duration(a), Value::Duration(b)) => whole(a.checked_add(*b)),
        (Function::Subtract, Value::Duration(a), Value::Duration(b)) => whole(a.checked_sub(*b)),
        (Function::Add, Value::Duration(nanos), Value::Timestamp(point))
        | (Function::Add, Value::Timestamp(point), Value::Duration(nanos)) => {
            point.plus(*nanos).map(Value::Timestamp)
        }
        (Function::Subtract, Value::Timestamp(point), Value::Duration(nanos)) => match nanos.checked_neg() {
            Some(nanos) => point.plus(nanos).map(Value::Timestamp),
            None => integer_overflow(),
        },
        (Function::Subtract, Value::Timestamp(a), Value::Timestamp(b)) => whole(a.minus(*b)),
        _ => return None,
    })
}

/// A getter of a duration or timestamp. `None` if it takes no such values.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn call<'a>(function: Function, args: &[Value<'a>], meter: &mut Meter) -> Option<Outcome<'a>> {
    let (point, offset) = match args {
        [Value::Duration(nanos)] => {
            let unit = match function {
                Function::GetHours => 3600 * SECOND,
                Function::GetMinutes => 60 * SECOND,
                Function::GetSeconds => SECOND,
                Function::GetMilliseconds => return Some(Ok(Value::Int(nanos / 1_000_000))),
                _ => return None,
            };
            return Some(Ok(Value::Int(in_units(*nanos, unit) as i64)));
        }
        [Value::Timestamp(point)] => (point, Ok(0)),
        [Value::Timestamp(point), Value::String(zone)] => (point, zones::offset(zone, point.seconds, meter)),
        _ => return None,
    };
    let field = calendar::field(function)?;
    Some(offset.map(|offset| {
        let local = calendar::Local::of(point.seconds + offset);
        Value::Int(if function == Function::GetMilliseconds {
            i64::from(point.nanos / 1_000_000)
        } else {
            field(&local)
        })
    }))
}
