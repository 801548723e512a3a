//! The depth-first search. Claims, requests and devices are tried in upstream's order, so its first
//! answer is upstream's first answer.
//!
//! The search starts as a plain first fit. Only when it would have to take a device back does it
//! ask whether it may prune (see `prune`), and starts anew with proofs that cut dead branches. It
//! may not where upstream's walk could end with an error that pruning would hide.

use crate::model::ALLOCATION_RESULTS_MAX;

use super::book::Book;
use super::candidate::Stock;
use super::errors::{Failure, RequestFault};
use super::held::Held;
use super::ledger::{Ledger, Mark, Placed};
use super::pool::PoolStatus;
use super::prune::{Dead, Pruner};
use super::request::{Check, Query, Tally, Wanted};

/// What is searched: the claims on one node.
pub(super) struct Problem<'a> {
    pub stock: Stock<'a>,
    pub query: &'a Query,
    pub held: &'a Held,
    /// How many devices each option wants.
    pub counts: Vec<i64>,
    /// The devices of options that want all; empty for others.
    pub lists: Vec<Vec<usize>>,
}

/// A full answer: the devices in order, and the option of every request of every claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Solution {
    pub placed: Vec<Placed>,
    pub chosen: Vec<Vec<usize>>,
}

/// How a search ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Found(Solution),
    DoesNotFit,
    Failed(Failure),
    OutOfSteps,
}

impl<'a> Problem<'a> {
    /// Validates the claims and lists the devices of mode `All`, in upstream's order.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn new(stock: Stock<'a>, query: &'a Query, held: &'a Held, book: &mut Book) -> Result<Self, Failure> {
        let counts = query.options.iter().map(|option| match option.wanted {
            Wanted::Count(count) => count,
            Wanted::All => 0,
        });
        let lists = vec![Vec::new(); query.options.len()];
        let mut problem = Self { stock, query, held, counts: counts.collect(), lists };
        let mut tally = Tally::default();
        for check in &query.checks {
            match check {
                Check::Fault(failure) => return Err(failure.clone()),
                Check::List(option) => problem.list(book, *option)?,
                Check::Count { claim, request } => {
                    tally.add(stock.rules, query, &problem.counts, *claim, *request)?;
                }
                Check::Total { claim } => tally.check(*claim)?,
            }
        }
        Ok(problem)
    }

    fn list(&mut self, book: &mut Book, number: usize) -> Result<(), Failure> {
        let option = &self.query.options[number];
        let pools = self.stock.pools;
        let at_start = Ledger::new(self.stock, self.query, self.held);
        let drops_exhausted = self.stock.rules.all_drops_exhausted;
        let mut devices = pools.devices.iter().enumerate().peekable();
        for (at, pool) in pools.pools.iter().enumerate() {
            let fault = match &pool.status {
                PoolStatus::Usable => None,
                PoolStatus::Incomplete => Some(RequestFault::IncompletePool { pool: pool.id.clone() }),
                PoolStatus::Invalid(_) => Some(RequestFault::InvalidPool { pool: pool.id.clone() }),
            };
            if let Some(fault) = fault {
                return Err(Failure::of_request(option.claim, &option.bare, fault));
            }
            while let Some((device, _)) = devices.next_if(|(_, location)| location.pool == at) {
                if self.stock.judge(book, option, device)?.is_none()
                    && (!drops_exhausted || at_start.has_capacity(book, option, device))
                {
                    self.lists[number].push(device);
                }
            }
        }
        self.counts[number] = i64::try_from(self.lists[number].len()).unwrap_or(i64::MAX);
        Ok(())
    }

    /// How many devices an option wants, as far as there can be so many.
    pub fn count(&self, option: usize) -> usize {
        usize::try_from(self.counts[option].max(0)).unwrap_or(usize::MAX)
    }

    /// Whether mode `All` of some option can end with an error because of a constraint.
    pub fn all_is_constrained(&self) -> bool {
        self.query.options.iter().any(|o| o.wanted == Wanted::All && !o.constraints.is_empty())
    }
}

/// Where the search is: the n-th device of an option, from some device on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub claim: usize,
    pub request: usize,
    /// The option that is worked on; none before one is chosen.
    pub option: Option<usize>,
    pub nth: usize,
    pub start: usize,
}

/// A decision that can be taken back.
enum Frame {
    /// An alternative of `firstAvailable` is tried.
    Choice { at: Position, option: usize, all_exceeded: bool },
    /// A device is tried.
    Device { at: Position, option: usize, next: usize, mark: Mark, failed: Vec<usize>, dead: Option<Dead> },
}

enum Move {
    /// Go on from there.
    Enter(Position),
    /// Try the next value of the last decision.
    Advance,
    /// No answer below the last decision.
    Fail,
    /// No answer: the claim would have more devices than it can have.
    Exceeded(usize),
    End(End),
}

/// A running search.
pub(super) struct Search<'a> {
    problem: &'a Problem<'a>,
    book: &'a mut Book,
    ledger: Ledger<'a>,
    frames: Vec<Frame>,
    pruner: Option<Pruner>,
    /// Whether pruning has been decided upon.
    is_decided: bool,
    steps: u64,
    budget: u64,
}

const ROOT: Position = Position { claim: 0, request: 0, option: None, nth: 0, start: 0 };

impl<'a> Search<'a> {
    pub fn new(problem: &'a Problem<'a>, book: &'a mut Book, budget: u64) -> Self {
        let ledger = Ledger::new(problem.stock, problem.query, problem.held);
        Self { problem, book, ledger, frames: Vec::new(), pruner: None, is_decided: false, steps: 0, budget }
    }

    /// The same without any pruning: upstream's walk, step by step.
    #[cfg(test)]
    pub fn plain(problem: &'a Problem<'a>, book: &'a mut Book, budget: u64) -> Self {
        Self { is_decided: true, ..Self::new(problem, book, budget) }
    }

    /// The first answer, and the steps it took.
    pub fn run(mut self) -> (End, u64) {
        let mut next = Move::Enter(ROOT);
        loop {
            next = match next {
                Move::Enter(_) if self.steps >= self.budget => Move::End(End::OutOfSteps),
                Move::Enter(at) => self.enter(at),
                Move::Advance => self.advance(),
                Move::Fail => self.resume(None),
                Move::Exceeded(claim) => self.resume(Some(claim)),
                Move::End(end) => return (end, self.steps),
            };
        }
    }

    /// One step of upstream's: what is to be done at a position.
    fn enter(&mut self, mut at: Position) -> Move {
        let query = self.problem.query;
        loop {
            self.steps += 1;
            let Some(claim) = query.claims.get(at.claim) else {
                return Move::End(End::Found(self.solution()));
            };
            let Some(request) = claim.requests.get(at.request) else {
                at = Position { claim: at.claim + 1, ..ROOT };
                continue;
            };
            let Some(option) = at.option else {
                let first = request.options.start;
                at = Position { option: Some(first), ..at };
                if request.is_choice {
                    self.frames.push(Frame::Choice { at, option: first, all_exceeded: true });
                } else {
                    self.steps -= 1;
                }
                continue;
            };
            let wanted = self.problem.count(option);
            if query.options[option].wanted == Wanted::All && self.problem.lists[option].is_empty() {
                return Move::Fail;
            }
            if at.nth >= wanted {
                at = Position { claim: at.claim, request: at.request + 1, ..ROOT };
                continue;
            }
            let later = self.pruner.as_ref().map_or(0, |pruner| pruner.least_after(at.claim, at.request));
            let rest = (wanted - at.nth).saturating_add(later);
            if rest > ALLOCATION_RESULTS_MAX.saturating_sub(self.ledger.results[at.claim]) {
                return Move::Exceeded(at.claim);
            }
            return self.open(at, option);
        }
    }

    fn open(&mut self, at: Position, option: usize) -> Move {
        let mut dead = None;
        if let Some(pruner) = &mut self.pruner {
            self.steps += 1;
            match pruner.look(self.problem, self.book, &self.ledger, &at) {
                Ok(state) => dead = Some(state),
                Err(()) => return Move::Fail,
            }
        }
        let mark = self.ledger.mark();
        self.frames.push(Frame::Device { at, option, next: at.start, mark, failed: Vec::new(), dead });
        Move::Advance
    }

    /// Tries the next device of the last decision.
    fn advance(&mut self) -> Move {
        let Some(Frame::Device { at, option, next, .. }) = self.frames.last_mut() else {
            return Move::End(End::DoesNotFit);
        };
        let (at, number) = (*at, *option);
        let option = &self.problem.query.options[number];
        if option.wanted == Wanted::All {
            let Some(device) = self.problem.lists[number].get(at.nth).copied() else { return Move::Fail };
            return match self.ledger.place(self.book, number, device, true) {
                Ok(true) => Move::Enter(Position { nth: at.nth + 1, start: 0, ..at }),
                Ok(false) => self.give_up(),
                Err(failure) => Move::End(End::Failed(failure)),
            };
        }
        let devices = self.problem.stock.pools.devices.len();
        let mut device = *next;
        while device < devices {
            match self.try_device(number, device) {
                Ok(true) => {
                    if let Some(Frame::Device { next, .. }) = self.frames.last_mut() {
                        *next = device + 1;
                    }
                    return Move::Enter(Position { nth: at.nth + 1, start: device + 1, ..at });
                }
                Ok(false) => device += 1,
                Err(failure) => return Move::End(End::Failed(failure)),
            }
        }
        self.give_up()
    }

    fn try_device(&mut self, number: usize, device: usize) -> Result<bool, Failure> {
        let option = &self.problem.query.options[number];
        if let (Some(pruner), Some(Frame::Device { failed, .. })) = (&self.pruner, self.frames.last())
            && (!pruner.may_serve(number, device) || pruner.equals_failed(device, failed, &self.ledger))
        {
            return Ok(false);
        }
        if self.ledger.is_in_use(option, device)
            || self.problem.stock.judge(self.book, option, device)?.is_some()
            || !self.ledger.has_capacity(self.book, option, device)
        {
            return Ok(false);
        }
        self.ledger.place(self.book, number, device, false)
    }

    /// Leaves the last decision: none of its values leads to an answer.
    fn give_up(&mut self) -> Move {
        if let Some(Frame::Device { dead: Some(dead), .. }) = self.frames.pop()
            && let Some(pruner) = &mut self.pruner
        {
            pruner.remember(dead);
        }
        Move::Fail
    }

    /// Takes the last decision back, because nothing below it led to an answer; `exceeded` is the
    /// claim that would have had too many devices.
    fn resume(&mut self, exceeded: Option<usize>) -> Move {
        match self.frames.last_mut() {
            None => Move::End(End::DoesNotFit),
            Some(Frame::Choice { at, option, all_exceeded }) => {
                *all_exceeded &= exceeded == Some(at.claim);
                *option += 1;
                let request = &self.problem.query.claims[at.claim].requests[at.request];
                if request.options.contains(option) {
                    return Move::Enter(Position { option: Some(*option), ..*at });
                }
                let outcome = if *all_exceeded { Move::Exceeded(at.claim) } else { Move::Fail };
                self.frames.pop();
                outcome
            }
            Some(Frame::Device { at, option, next, mark, failed, .. }) => {
                if !self.is_decided {
                    self.is_decided = true;
                    if let Some(pruner) = Pruner::new(self.problem, self.book) {
                        return self.restart(pruner);
                    }
                }
                let (at, mark) = (*at, *mark);
                let is_all = self.problem.query.options[*option].wanted == Wanted::All;
                failed.push(next.saturating_sub(1));
                self.ledger.rollback(mark);
                if exceeded == Some(at.claim) {
                    self.frames.pop();
                    return Move::Exceeded(at.claim);
                }
                if is_all {
                    return self.give_up();
                }
                Move::Advance
            }
        }
    }

    /// Starts anew with proofs.
    fn restart(&mut self, pruner: Pruner) -> Move {
        self.pruner = Some(pruner);
        self.frames.clear();
        self.ledger = Ledger::new(self.problem.stock, self.problem.query, self.problem.held);
        Move::Enter(ROOT)
    }

    fn solution(&mut self) -> Solution {
        let claims = &self.problem.query.claims;
        let mut chosen: Vec<Vec<usize>> = claims
            .iter()
            .map(|claim| claim.requests.iter().map(|request| request.options.start).collect())
            .collect();
        for frame in &self.frames {
            if let Frame::Choice { at, option, .. } = frame {
                chosen[at.claim][at.request] = *option;
            }
        }
        Solution { placed: std::mem::take(&mut self.ledger.placed), chosen }
    }
}
