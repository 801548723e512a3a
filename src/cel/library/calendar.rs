//! The proleptic Gregorian calendar.

use crate::cel::functions::Function;

const DAY: i64 = 86_400;

/// A point in time as a calendar and a clock show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Local {
    pub(super) year: i64,
    /// From 1.
    pub(super) month: i64,
    /// From 1.
    pub(super) day: i64,
    /// From 0.
    day_of_year: i64,
    /// From Sunday, which is 0.
    weekday: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
}

impl Local {
    /// What is shown so many seconds after 1970-01-01T00:00:00.
    pub(super) fn of(seconds: i64) -> Self {
        let (days, clock) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        // Years that begin in March have the leap day last. 146,097 days are 400 of them.
        let from_march = days + 719_468;
        let (era, day_of_era) = (from_march.div_euclid(146_097), from_march.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_march_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_march_year + 2) / 153;
        let day = day_of_march_year - (153 * month_from_march + 2) / 5 + 1;
        let month = (month_from_march + 2) % 12 + 1;
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self {
            year,
            month,
            day,
            day_of_year: days - first_day(year),
            weekday: (days + 4).rem_euclid(7),
            hour: clock / 3600,
            minute: clock / 60 % 60,
            second: clock % 60,
        }
    }
}

/// The day on which a year begins, counted from 1970-01-01.
fn first_day(year: i64) -> i64 {
    let before = year - 1;
    365 * before + before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400) - 719_162
}

/// The day of a date, counted from 1970-01-01. `None` if there is no such date.
pub(super) fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let (before, rest) = lengths.split_at_checked(usize::try_from(month).ok()?.checked_sub(1)?)?;
    (1..=*rest.first()?).contains(&day).then(|| first_day(year) + before.iter().sum::<i64>() + day - 1)
}

/// What a getter takes from a local time.
pub(super) fn field(getter: Function) -> Option<fn(&Local) -> i64> {
    Some(match getter {
        Function::GetFullYear => |local| local.year,
        Function::GetMonth => |local| local.month - 1,
        Function::GetDayOfYear => |local| local.day_of_year,
        Function::GetDate => |local| local.day,
        Function::GetDayOfMonth => |local| local.day - 1,
        Function::GetDayOfWeek => |local| local.weekday,
        Function::GetHours => |local| local.hour,
        Function::GetMinutes => |local| local.minute,
        Function::GetSeconds => |local| local.second,
        // It does not depend on the zone, and is taken from the timestamp itself.
        Function::GetMilliseconds => |_| 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Local, days};

    #[test]
    fn every_day_of_four_centuries_is_found_again() {
        let mut wanted = days(1799, 12, 31).unwrap();
        for year in 1800..2200 {
            for month in 1..=12 {
                for day in 1..=31 {
                    let Some(found) = days(year, month, day) else { continue };
                    wanted += 1;
                    assert_eq!(found, wanted, "{year}-{month}-{day}");
                    let local = Local::of(found * 86_400 + 3661);
                    assert_eq!((local.year, local.month, local.day), (year, month, day));
                    assert_eq!((local.hour, local.minute, local.second), (1, 1, 1));
                }
            }
        }
        assert_eq!(days(1970, 1, 1), Some(0));
        assert_eq!((days(2023, 2, 29), days(2024, 2, 29).is_some()), (None, true));
        assert_eq!((days(2024, 0, 1), days(2024, 13, 1), days(2024, 1, 0)), (None, None, None));
    }

    #[test]
    fn years_before_the_first_are_counted_on() {
        let local = Local::of(-62_135_596_800 - 1);
        assert_eq!((local.year, local.month, local.day, local.day_of_year), (0, 12, 31, 365));
        assert_eq!(Local::of(-62_135_596_800).weekday, 1);
    }
}
