//! A compiled expression: flat code for the machine of [`eval`](super::eval), constants, and which
//! parts of a device it looks at.

use std::collections::BTreeSet;
use std::sync::Arc;

use regex::Regex;

use super::device::Section;
use super::estimate::Bounds;
use super::functions::Function;
use super::value::{Key, Value};

/// An index into the code.
pub(super) type Target = u32;

/// How a field or element is taken from a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// `.?` and `[?]`: a missing one is `none`, and no failure.
    pub(super) optional: bool,
    /// `has(..)`: only whether there is one.
    pub(super) test: bool,
    /// Whether nothing is charged: the test of a ternary's field.
    pub(super) free: bool,
    /// Where to go with a failure or `none`, which end the chain of accesses.
    pub(super) exit: Target,
}

/// One instruction. The stack holds outcomes: a failure stays there until something absorbs it.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// Pushes a constant. `cost` is that of the calls that were folded into it.
    Const {
        index: u32,
        cost: u32,
        literal: bool,
    },
    /// Pushes a variable.
    Local {
        slot: u32,
        cost: u32,
    },
    /// Pushes the variable of a binding; if it has no value yet, the code at `init` makes it.
    Lazy {
        slot: u32,
        init: Target,
        cost: u32,
    },
    /// Takes a binding's value back, ready for another round of a loop around it.
    Reset {
        slot: u32,
    },
    /// Ends the code that makes a binding's value, which is on the stack.
    Return {
        slot: u32,
    },
    /// Pushes a part of the device, or whether it is there.
    Path {
        index: u32,
        cost: u32,
        test: bool,
    },
    /// Begins a chain of accesses: a failure or `none` on the stack is its result.
    Root {
        exit: Target,
    },
    /// Replaces the value on the stack by its field or element with a constant key.
    Field {
        key: u32,
        access: Access,
    },
    /// The same with the key on top of the stack.
    Element {
        access: Access,
    },
    /// The result of `has(..)` on a chain that may be optional.
    Present,
    /// Charges.
    Charge(u32),
    /// Pushes what `&&` or `||` starts from.
    Logical(bool),
    /// Merges the next term of `&&` (`decisive` false) or `||` (true); a decisive term ends it.
    Merge {
        decisive: bool,
        exit: Target,
    },
    /// `?:`, with the condition on the stack.
    Branch {
        otherwise: Target,
        exit: Target,
    },
    Jump(Target),
    /// Skips the other arguments if the last of `count` is a failure, which becomes the result.
    Strict {
        count: u32,
        exit: Target,
    },
    /// Calls a function on the topmost `count` values.
    Call {
        function: Function,
        overload: Option<&'static str>,
        count: u32,
    },
    /// `matches`, `find` or `findAll` with a constant pattern, whose text is also among the constants;
    /// `limited`: with the most matches to find on the stack.
    Regex {
        function: Function,
        regex: u32,
        pattern: u32,
        overload: &'static str,
        limited: bool,
    },
    /// `in` on a list of constants, which upstream counts as nothing.
    InSet {
        set: u32,
    },
    /// `or` and `orValue`: with a value, the rest is skipped.
    OrElse {
        unwrap: bool,
        /// Whether what is no optional counts as one that has a value.
        lenient: bool,
        exit: Target,
    },
    /// Makes a list of the topmost values, those of `optional` being optionals.
    List {
        count: u32,
        optional: Arc<[bool]>,
    },
    /// Makes a map of the topmost keys and values.
    Map {
        count: u32,
        optional: Arc<[bool]>,
    },
    /// Begins a loop over the list or map on the stack.
    Loop {
        pair: bool,
        exit: Target,
    },
    /// Takes the next element into the variables, or leaves the loop.
    Next {
        slots: [u32; 2],
        pair: bool,
        done: Target,
    },
    /// Leaves the loop if the condition on the stack is false.
    While {
        done: Target,
    },
    /// Stores the value on the stack.
    Store {
        slot: u32,
    },
    /// Pushes the accumulator of `slot` with the value on the stack appended.
    Append {
        slot: u32,
        cost: u32,
    },
    /// Pushes the accumulator of `slot` with the topmost key and value, or map of them, inserted.
    Insert {
        slot: u32,
        pair: bool,
    },
}

/// A part of the device that a program reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Path {
    /// `device` itself.
    Whole,
    /// `device.driver`
    Driver,
    /// `device.allowMultipleAllocations`
    MultipleAllocations,
    /// `device.attributes`
    Section(Section),
    /// `device.attributes[domain]`
    Domain(Section, Box<str>),
    /// `device.attributes[domain].id`, with the key `domain/id`.
    Member { section: Section, domain: Box<str>, id: Box<str>, key: Box<str> },
}

/// Which parts of a device an expression looks at. Two devices that agree on them get the same
/// result, unless one has an attribute that no expression accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedPaths {
    /// `device.driver`
    pub driver: bool,
    /// `device.allowMultipleAllocations`
    pub multiple_allocations: bool,
    /// Single attributes and capacities: section, domain, name.
    pub members: BTreeSet<(Section, Box<str>, Box<str>)>,
    /// Domains of which it may look at everything.
    pub domains: BTreeSet<(Section, Box<str>)>,
    /// Sections of which it may look at everything.
    pub sections: BTreeSet<Section>,
}

/// A compiled expression. Immutable; evaluating it needs nothing but a device.
#[derive(Debug)]
pub struct Program {
    pub(super) ops: Box<[Op]>,
    pub(super) constants: Box<[Value<'static>]>,
    pub(super) paths: Box<[Path]>,
    pub(super) regexes: Box<[Regex]>,
    pub(super) sets: Box<[BTreeSet<Key>]>,
    pub(super) locals: usize,
    pub(super) estimate: Bounds,
}

impl Program {
    /// What evaluating it may cost on any device, as an API server estimates it when the
    /// expression is written.
    pub fn cost_estimate(&self) -> Bounds {
        self.estimate
    }

    /// Which parts of a device the expression looks at.
    pub fn touched_paths(&self) -> TouchedPaths {
        let mut touched = TouchedPaths::default();
        for path in &self.paths {
            match path {
                Path::Whole => {
                    touched.driver = true;
                    touched.multiple_allocations = true;
                    touched.sections.extend([Section::Attributes, Section::Capacity]);
                }
                Path::Driver => touched.driver = true,
                Path::MultipleAllocations => touched.multiple_allocations = true,
                Path::Section(section) => {
                    touched.sections.insert(*section);
                }
                Path::Domain(section, domain) => {
                    touched.domains.insert((*section, domain.clone()));
                }
                Path::Member { section, domain, id, .. } => {
                    touched.members.insert((*section, domain.clone(), id.clone()));
                }
            }
        }
        // What lives in a domain depends on whether it is the driver's.
        touched.driver |=
            !touched.members.is_empty() || !touched.domains.is_empty() || !touched.sections.is_empty();
        touched
    }
}
