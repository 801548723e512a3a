//! Shareable devices: how many more of the requests at hand can have a share.

use crate::model::Quantity;

use super::super::bits::Bits;
use super::super::book::Book;
use super::super::ledger::Ledger;
use super::super::search::Problem;

/// One capacity of a device, in whole numbers of some unit.
#[derive(Debug)]
struct Room {
    /// What is there beside existing shares.
    left: i128,
    /// What each option takes.
    takes: Vec<i128>,
}

/// The capacity of shareable devices. A capacity without a unit is taken for boundless.
#[derive(Debug, Default)]
pub(super) struct Shares {
    /// By device; empty for devices that are not shareable.
    rooms: Vec<Vec<Room>>,
}

impl Shares {
    pub fn new(problem: &Problem<'_>, book: &mut Book, shareable: &Bits) -> Self {
        let devices = problem.stock.pools.devices.len();
        let mut rooms: Vec<Vec<Room>> = (0..devices).map(|_| Vec::new()).collect();
        for device in shareable.iter() {
            let options = problem.query.options.iter();
            let amounts: Vec<_> = options.map(|option| problem.stock.amounts(book, option, device)).collect();
            let held = problem.held.shares(device).unwrap_or_default();
            let content = &problem.stock.pools.device(device).2.content;
            for (at, (name, capacity)) in content.capacity.iter().enumerate() {
                let used = held.iter().find(|(key, _)| key == name).map(|(_, sum)| sum);
                let left = used.map_or_else(|| capacity.value.clone(), |used| capacity.value.sub(used));
                let takes = amounts.iter().map(|amounts| amounts.get(at).map(|(_, amount)| amount));
                rooms[device].extend(room(&left, &takes));
            }
        }
        Self { rooms }
    }

    /// The most of these options, one for each request, that can have a share of the device.
    pub fn most(&self, ledger: &Ledger<'_>, device: usize, options: &[usize]) -> usize {
        let placed = || ledger.placed.iter().filter(|placed| placed.device == device);
        let fitting = self.rooms[device].iter().map(|room| {
            let mut left = room.left - placed().map(|placed| room.takes[placed.option]).sum::<i128>();
            let mut takes: Vec<i128> = options.iter().map(|option| room.takes[*option]).collect();
            takes.sort_unstable();
            takes
                .iter()
                .take_while(|takes| {
                    left -= **takes;
                    left >= 0
                })
                .count()
        });
        fitting.min().unwrap_or(options.len())
    }
}

/// The amounts in the largest unit that makes them whole. An option that cannot have the device
/// takes nothing.
fn room<'a>(left: &Quantity, takes: &(impl Iterator<Item = Option<&'a Quantity>> + Clone)) -> Option<Room> {
    [0, -3, -9].into_iter().find_map(|scale| {
        let whole = |quantity: &Quantity| quantity.exact_scaled_value(scale).map(i128::from);
        let takes: Option<Vec<i128>> = takes.clone().map(|amount| amount.map_or(Some(0), whole)).collect();
        Some(Room { left: whole(left)?, takes: takes? })
    })
}
