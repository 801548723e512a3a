//! Times as Kubernetes writes them: RFC 3339, with a fraction or without, in any zone.

use crate::model::Timestamp;

const NANOS: i64 = 1_000_000_000;

/// Reads `2026-11-30T10:00:00.5Z` and the like. Nothing if it is not RFC 3339 or out of range.
pub fn parse(text: &str) -> Option<Timestamp> {
    let (date, rest) = text.split_once(['T', 't'])?;
    let mut parts = date.split('-');
    let (year, month, day) =
        (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    if parts.next().is_some() || !(1..=12).contains(&month) || day < 1 || day > days_of_month(year, month) {
        return None;
    }
    let zone_at = rest.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = rest.split_at(zone_at);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.split(':');
    let (hour, minute, second) =
        (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds =
        days_since_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset(zone)?;
    seconds.checked_mul(NANOS)?.checked_add(nanos(fraction)?).map(Timestamp)
}

/// Writes a moment in whole seconds, as `metav1.Time` does.
pub fn format(Timestamp(nanos): Timestamp) -> String {
    let seconds = nanos.div_euclid(NANOS);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

fn digits(text: &str, count: usize) -> Option<i64> {
    let plain = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3600 + minutes * 60))
}

fn nanos(fraction: &str) -> Option<i64> {
    let plain = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let padded: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    plain.then(|| padded.parse().ok()).flatten()
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01, counting years from March so that the leap day comes last.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The inverse of [`days_since_epoch`].
fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        let table = [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00Z", 951_825_600 * NANOS),
            ("2026-11-30T10:00:00+02:00", 1_796_025_600 * NANOS),
            ("1969-12-31T23:59:59.5Z", -500_000_000),
        ];
        for (text, nanos) in table {
            assert_eq!(parse(text), Some(Timestamp(nanos)), "{text}");
        }
        assert_eq!(format(Timestamp(951_825_600 * NANOS)), "2000-02-29T12:00:00Z");
        assert_eq!(format(Timestamp(-1)), "1969-12-31T23:59:59Z");
    }

    #[test]
    fn other_texts_are_no_times() {
        for text in ["", "2026-11-30", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-11-30T24:00:00Z"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse("2026-11-30T10:00:00"), None);
        assert_eq!(parse("2026-11-30T10:00:00+é"), None);
    }
}
