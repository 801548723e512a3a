//! Claims, resolved: what every request asks, with its class looked up and its expressions numbered,
//! and what is wrong with it, in the order in which upstream finds it.

use std::ops::Range;
use std::sync::Arc;

use imbl::OrdMap;

use crate::model::{
    ALLOCATION_RESULTS_MAX, AllocationMode, ClaimSpec, ClassName, ConstraintKind, DeviceClass, DeviceRequest,
    DeviceRequirement, DeviceSelector, Name, RequestKind, Toleration,
};

use super::book::{AskId, AttributeId, Book, ProjectionId, SelectorId, Source};
use super::constraint::Rule;
use super::errors::{Failure, FatalReason, LIMIT, RequestFault, SelectorOwner};
use super::projection::Touched;
use super::rules::Rules;

/// One selector of an option.
#[derive(Debug)]
pub(super) struct OptionSelector {
    pub owner: SelectorOwner,
    pub index: usize,
    pub selector: SelectorId,
    pub expression: Arc<str>,
}

/// How many devices an option wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Count(i64),
    All,
}

/// A constraint that applies to an option.
#[derive(Clone, Copy, Debug)]
pub(super) struct Applies {
    /// Its position in the claim.
    pub constraint: usize,
    /// The attribute as this option looks it up.
    pub attribute: AttributeId,
}

/// One way to satisfy a request: what `exactly` says, or one alternative of `firstAvailable`.
#[derive(Debug)]
pub(super) struct DeviceOption {
    pub claim: usize,
    pub request: usize,
    /// `request`, or `request/subrequest`.
    pub name: Name,
    /// The bare name, for messages.
    pub bare: Name,
    pub class: Arc<DeviceClass>,
    pub selectors: Vec<OptionSelector>,
    pub ask: AskId,
    pub wanted: Wanted,
    pub admin: bool,
    pub tolerations: Box<[Toleration]>,
    pub constraints: Vec<Applies>,
}

/// A request and its options, by their numbers.
#[derive(Debug)]
pub(super) struct Request {
    pub options: Range<usize>,
    /// Whether it is `firstAvailable`.
    pub is_choice: bool,
}

/// A claim and its requests.
#[derive(Debug)]
pub(super) struct Claim {
    pub spec: Arc<ClaimSpec>,
    pub requests: Vec<Request>,
    pub constraints: Vec<(Rule, Name)>,
}

/// A step of the validation that comes before the search.
#[derive(Debug)]
pub(super) enum Check {
    /// The claims cannot be handled.
    Fault(Failure),
    /// All devices that match an option are to be listed.
    List(usize),
    /// The devices of a request are counted.
    Count { claim: usize, request: usize },
    /// The devices of a claim have been counted (releases that check them together).
    Total { claim: usize },
}

/// The claims of a pod, resolved.
#[derive(Debug)]
pub(super) struct Query {
    pub claims: Vec<Claim>,
    pub options: Vec<DeviceOption>,
    /// In order; nothing follows a fault.
    pub checks: Vec<Check>,
    /// What the claims can tell apart.
    pub projection: ProjectionId,
}

impl Query {
    pub fn new(
        rules: &Rules,
        classes: &OrdMap<ClassName, Arc<DeviceClass>>,
        book: &mut Book,
        specs: &[Arc<ClaimSpec>],
    ) -> Self {
        let query = Self { claims: Vec::new(), options: Vec::new(), checks: Vec::new(), projection: 0 };
        let mut resolver = Resolver { rules, classes, book, query };
        for spec in specs {
            if let Err(failure) = resolver.claim(spec) {
                resolver.query.checks.push(Check::Fault(failure));
                break;
            }
        }
        let mut query = resolver.query;
        query.projection = book.projection(touched(book, &query.options));
        query
    }
}

/// The attributes that selectors and constraints look at.
fn touched(book: &Book, options: &[DeviceOption]) -> Touched {
    let mut touched = Touched::default();
    for option in options {
        for selector in &option.selectors {
            touched.add(book.touched_by_selector(selector.selector));
        }
        for applies in &option.constraints {
            touched.add(book.touched_by_constraint(applies.attribute));
        }
    }
    touched
}

struct Resolver<'a> {
    rules: &'a Rules,
    classes: &'a OrdMap<ClassName, Arc<DeviceClass>>,
    book: &'a mut Book,
    query: Query,
}

impl Resolver<'_> {
    fn claim(&mut self, spec: &Arc<ClaimSpec>) -> Result<(), Failure> {
        let claim = self.query.claims.len();
        self.query.claims.push(Claim {
            spec: Arc::clone(spec),
            requests: Vec::new(),
            constraints: Vec::new(),
        });
        for (at, request) in spec.requests.iter().enumerate() {
            self.gates(claim, request)?;
            let first = self.query.options.len();
            let is_choice = match &request.kind {
                RequestKind::Exactly(requirement) => {
                    self.option(claim, at, request, None, requirement)?;
                    false
                }
                RequestKind::FirstAvailable(subrequests) if !subrequests.is_empty() => {
                    for subrequest in subrequests {
                        self.option(claim, at, request, Some(&subrequest.name), &subrequest.requirement)?;
                    }
                    true
                }
                RequestKind::FirstAvailable(_) | RequestKind::Unknown => {
                    return Err(Failure::of_request(claim, &request.name, RequestFault::MissingClass));
                }
            };
            let options = first..self.query.options.len();
            self.query.claims[claim].requests.push(Request { options, is_choice });
            self.query.checks.push(Check::Count { claim, request: at });
        }
        if self.rules.limit_per_claim {
            self.query.checks.push(Check::Total { claim });
        }
        for (index, constraint) in spec.constraints.iter().enumerate() {
            let constraint = match &constraint.kind {
                ConstraintKind::MatchAttribute(name) => (Rule::Match, name.clone()),
                ConstraintKind::DistinctAttribute(name) => (Rule::Distinct, name.clone()),
                ConstraintKind::Unknown => {
                    return Err(Failure::of_claim(claim, FatalReason::EmptyConstraint { index }));
                }
            };
            self.query.claims[claim].constraints.push(constraint);
        }
        Ok(())
    }

    fn gates(&self, claim: usize, request: &DeviceRequest) -> Result<(), Failure> {
        let subrequests = match &request.kind {
            RequestKind::FirstAvailable(subrequests) => &subrequests[..],
            _ => &[],
        };
        if !self.rules.prioritized_list && !subrequests.is_empty() {
            return Err(Failure::of_request(claim, &request.name, RequestFault::PrioritizedListGate));
        }
        if self.rules.consumable {
            return Ok(());
        }
        if matches!(&request.kind, RequestKind::Exactly(exactly) if exactly.capacity.is_some()) {
            return Err(Failure::of_request(claim, &request.name, RequestFault::CapacityGate));
        }
        match subrequests.iter().find(|subrequest| subrequest.requirement.capacity.is_some()) {
            Some(subrequest) => {
                let subrequest = subrequest.name.clone();
                Err(Failure::of_claim(claim, FatalReason::SubrequestCapacityGate { subrequest }))
            }
            None => Ok(()),
        }
    }

    fn option(
        &mut self,
        claim: usize,
        at: usize,
        request: &DeviceRequest,
        subrequest: Option<&Name>,
        requirement: &DeviceRequirement,
    ) -> Result<(), Failure> {
        let bare = subrequest.unwrap_or(&request.name).clone();
        let fault = |reason| Failure::of_request(claim, &bare, reason);
        let class = self.class(requirement, subrequest.is_some()).map_err(fault)?;
        let wanted = match &requirement.mode {
            AllocationMode::ExactCount(count) => Wanted::Count(*count),
            AllocationMode::All => Wanted::All,
            AllocationMode::Other(mode) => {
                return Err(fault(RequestFault::UnsupportedMode { mode: mode.clone() }));
            }
        };
        let mut selectors = self.selectors(&SelectorOwner::Class(class.name.clone()), &class.selectors);
        selectors.extend(self.selectors(&SelectorOwner::Claim, &requirement.selectors));
        let name = match subrequest {
            Some(subrequest) => Name::from(format!("{}/{subrequest}", request.name)),
            None => request.name.clone(),
        };
        let constraints = self.constraints(claim, &request.name, &name, requirement);
        let option = DeviceOption {
            claim,
            request: at,
            name,
            class,
            selectors,
            ask: self.book.ask(requirement.capacity.as_deref().unwrap_or_default()),
            wanted,
            admin: subrequest.is_none() && requirement.admin_access == Some(true),
            tolerations: requirement.tolerations.clone(),
            constraints,
            bare,
        };
        if wanted == Wanted::All {
            self.query.checks.push(Check::List(self.query.options.len()));
        }
        self.query.options.push(option);
        Ok(())
    }

    fn class(
        &self,
        requirement: &DeviceRequirement,
        is_subrequest: bool,
    ) -> Result<Arc<DeviceClass>, RequestFault> {
        if !requirement.derived_attributes.is_empty() && !self.rules.derived {
            return Err(RequestFault::DerivedGate);
        }
        if let Some(index) = requirement.selectors.iter().position(|selector| selector.expression.is_none()) {
            return Err(RequestFault::EmptySelector { index });
        }
        if !self.rules.admin_access && requirement.admin_access.is_some() && !is_subrequest {
            return Err(RequestFault::AdminGate);
        }
        if requirement.class.as_str().is_empty() {
            return Err(RequestFault::MissingClass);
        }
        let class = self.classes.get(&requirement.class).cloned();
        class.ok_or_else(|| RequestFault::UnknownClass { class: requirement.class.clone() })
    }

    /// Selectors of a class without an expression are those of a later release; they match nothing.
    fn selectors(&mut self, owner: &SelectorOwner, selectors: &[DeviceSelector]) -> Vec<OptionSelector> {
        let numbered = selectors.iter().enumerate().map(|(index, selector)| {
            let expression = selector.expression.clone().unwrap_or_else(|| Arc::from("false"));
            let number = self.book.selector(&expression);
            OptionSelector { owner: owner.clone(), index, selector: number, expression }
        });
        numbered.collect()
    }

    fn constraints(
        &mut self,
        claim: usize,
        request: &Name,
        full: &Name,
        requirement: &DeviceRequirement,
    ) -> Vec<Applies> {
        let spec = Arc::clone(&self.query.claims[claim].spec);
        let applying = spec.constraints.iter().enumerate().filter(|(_, constraint)| {
            let named = &constraint.requests;
            named.is_empty() || named.contains(request) || named.contains(full)
        });
        let mut applies = Vec::new();
        for (index, constraint) in applying {
            let name = match &constraint.kind {
                ConstraintKind::MatchAttribute(name) | ConstraintKind::DistinctAttribute(name) => name,
                ConstraintKind::Unknown => continue,
            };
            // Of two derived attributes of one name the later one counts.
            let derived = requirement.derived_attributes.iter().rev().find(|derived| derived.name == *name);
            let source = match derived {
                Some(derived) => Source::Derived(Arc::clone(&derived.expression)),
                None => Source::Static(name.clone()),
            };
            applies.push(Applies { constraint: index, attribute: self.book.attribute(source) });
        }
        applies
    }
}

/// Counts the devices of a claim's requests, as far as they are known before the search.
#[derive(Debug, Default)]
pub(super) struct Tally {
    claim: usize,
    sum: i64,
}

impl Tally {
    /// Adds the devices of one request; `counts` are those of all options.
    ///
    /// # Errors
    /// More than a claim can have.
    pub fn add(
        &mut self,
        rules: &Rules,
        query: &Query,
        counts: &[i64],
        claim: usize,
        request: usize,
    ) -> Result<(), Failure> {
        if self.claim != claim {
            *self = Self { claim, sum: 0 };
        }
        let Some(asked) = query.claims[claim].requests.get(request) else { return Ok(()) };
        let least = counts[asked.options.clone()].iter().copied().min().unwrap_or(i64::MAX);
        if !rules.limit_per_claim && least > LIMIT.saturating_sub(self.sum) {
            let name = &query.claims[claim].spec.requests[request].name;
            let fault = RequestFault::TooManyDevices { adding: least, before: self.sum };
            return Err(Failure::of_request(claim, name, fault));
        }
        self.sum = self.sum.saturating_add(least);
        Ok(())
    }

    /// Checks a whole claim at once.
    ///
    /// # Errors
    /// More than a claim can have.
    pub fn check(&self, claim: usize) -> Result<(), Failure> {
        if self.claim == claim && self.sum > LIMIT {
            return Err(Failure::of_claim(claim, FatalReason::TooManyDevices { devices: self.sum }));
        }
        Ok(())
    }
}

const _: () = assert!(ALLOCATION_RESULTS_MAX == 32 && LIMIT == 32);
