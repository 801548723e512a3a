//! Static types and their unification (cel-go's `checker/types.go`).

use std::fmt;
use std::sync::Arc;

/// The type of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// Anything; known only at run time.
    Dyn,
    /// What attributes are in older releases: like `Dyn`, but no macro ranges over it.
    Any,
    /// The type of what does not check. It fits everywhere, so that one mistake is reported once.
    Error,
    Null,
    Bool,
    Bytes,
    Double,
    Int,
    String,
    Uint,
    Duration,
    Timestamp,
    /// An object, by name: the device, quantities, versions, addresses.
    Object(&'static str),
    List(Arc<Type>),
    Map(Arc<(Type, Type)>),
    Optional(Arc<Type>),
    /// The type of a type.
    Meta(Arc<Type>),
    /// A type parameter of a declaration.
    Parameter(u8),
    /// A type that is still to be found.
    Variable(usize),
}

/// `kubernetes.DRADevice`.
pub(super) const DEVICE: Type = Type::Object("kubernetes.DRADevice");
/// `kubernetes.Quantity`.
pub(super) const QUANTITY: Type = Type::Object("kubernetes.Quantity");
/// `kubernetes.Semver`.
pub(super) const SEMVER: Type = Type::Object("kubernetes.Semver");
/// `net.IP`.
pub(super) const IP: Type = Type::Object("net.IP");
/// `net.CIDR`.
pub(super) const CIDR: Type = Type::Object("net.CIDR");

/// How a declaration writes the names of objects.
const OBJECTS: [(&str, Type); 11] = [
    ("quantity", QUANTITY),
    ("semver", SEMVER),
    ("ip", IP),
    ("cidr", CIDR),
    ("url", Type::Object("kubernetes.URL")),
    ("namedformat", Type::Object("kubernetes.NamedFormat")),
    ("authorizer", Type::Object("kubernetes.authorization.Authorizer")),
    ("pathcheck", Type::Object("kubernetes.authorization.PathCheck")),
    ("groupcheck", Type::Object("kubernetes.authorization.GroupCheck")),
    ("resourcecheck", Type::Object("kubernetes.authorization.ResourceCheck")),
    ("decision", Type::Object("kubernetes.authorization.Decision")),
];

impl Type {
    pub(super) fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    pub(super) fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new((key, value)))
    }

    pub(super) fn optional(value: Self) -> Self {
        Self::Optional(Arc::new(value))
    }

    pub(super) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any | Self::Error)
    }

    /// The type within an optional, and whether it was one.
    pub(super) fn unwrap_optional(&self) -> (&Self, bool) {
        match self {
            Self::Optional(value) => (value, true),
            other => (other, false),
        }
    }

    /// Whether it consists of more than so many types. Looks no further than that.
    pub(super) fn exceeds(&self, most: usize) -> bool {
        let mut left = most;
        let mut todo = vec![self];
        while let Some(ty) = todo.pop() {
            if left == 0 {
                return true;
            }
            left -= 1;
            match ty {
                Self::List(inner) | Self::Optional(inner) | Self::Meta(inner) => todo.push(inner),
                Self::Map(entry) => todo.extend([&entry.0, &entry.1]),
                _ => {}
            }
        }
        false
    }

    /// The type that a declaration writes as `text`, such as `map(A, list(int))`.
    pub(super) fn parse(text: &str) -> Self {
        let text = text.trim();
        if let Some((name, rest)) = text.split_once('(') {
            let inner = rest.strip_suffix(')').unwrap_or(rest);
            let mut depth = 0_i32;
            let comma = inner.char_indices().find(|(_, c)| {
                depth += i32::from(*c == '(') - i32::from(*c == ')');
                *c == ',' && depth == 0
            });
            return match (name, comma) {
                ("map", Some((at, _))) => Self::map(Self::parse(&inner[..at]), Self::parse(&inner[at + 1..])),
                ("list", _) => Self::list(Self::parse(inner)),
                ("optional", _) => Self::optional(Self::parse(inner)),
                _ => Self::Meta(Arc::new(Self::parse(inner))),
            };
        }
        match text {
            "null" => Self::Null,
            "bool" => Self::Bool,
            "bytes" => Self::Bytes,
            "double" => Self::Double,
            "int" => Self::Int,
            "string" => Self::String,
            "uint" => Self::Uint,
            "duration" => Self::Duration,
            "timestamp" => Self::Timestamp,
            "A" => Self::Parameter(0),
            "B" => Self::Parameter(1),
            name => {
                let object = OBJECTS.iter().find(|(known, _)| *known == name);
                object.map_or(Self::Dyn, |(_, ty)| ty.clone())
            }
        }
    }

    /// The same with each parameter a fresh variable, numbered from `first`.
    pub(super) fn instantiate(&self, first: usize) -> Self {
        match self {
            Self::Parameter(parameter) => Self::Variable(first + usize::from(*parameter)),
            Self::List(element) => Self::list(element.instantiate(first)),
            Self::Map(entry) => Self::map(entry.0.instantiate(first), entry.1.instantiate(first)),
            Self::Optional(value) => Self::optional(value.instantiate(first)),
            Self::Meta(of) => Self::Meta(Arc::new(of.instantiate(first))),
            other => other.clone(),
        }
    }
}

/// As findings name a type, or with `#` as the type names itself.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dyn => f.write_str("dyn"),
            Self::Any => f.write_str(if f.alternate() { "google.protobuf.Any" } else { "any" }),
            Self::Error => f.write_str("!error!"),
            Self::Null => f.write_str(if f.alternate() { "null_type" } else { "null" }),
            Self::Bool => f.write_str("bool"),
            Self::Bytes => f.write_str("bytes"),
            Self::Double => f.write_str("double"),
            Self::Int => f.write_str("int"),
            Self::String => f.write_str("string"),
            Self::Uint => f.write_str("uint"),
            Self::Duration => {
                f.write_str(if f.alternate() { "google.protobuf.Duration" } else { "duration" })
            }
            Self::Timestamp => {
                f.write_str(if f.alternate() { "google.protobuf.Timestamp" } else { "timestamp" })
            }
            Self::Object(name) => f.write_str(name),
            Self::List(element) => of(f, "list", &[element]),
            Self::Map(entry) => of(f, "map", &[&entry.0, &entry.1]),
            Self::Optional(value) => of(f, "optional_type", &[value]),
            Self::Meta(ty) if **ty == Self::Dyn => f.write_str("type"),
            Self::Meta(ty) => of(f, "type", &[ty]),
            Self::Parameter(parameter) => write!(f, "_param{parameter}"),
            Self::Variable(number) => write!(f, "_var{number}"),
        }
    }
}

/// A type with its parameters.
fn of(f: &mut fmt::Formatter<'_>, name: &str, parameters: &[&Type]) -> fmt::Result {
    f.write_str(name)?;
    for (at, parameter) in parameters.iter().enumerate() {
        f.write_str(if at == 0 { "(" } else { ", " })?;
        fmt::Display::fmt(*parameter, f)?;
    }
    f.write_str(")")
}

/// What is known of the type variables, with a way back to what was known before.
#[derive(Debug, Default)]
pub(super) struct Substitution {
    bound: Vec<Option<Type>>,
    trail: Vec<(usize, Option<Type>)>,
    steps: usize,
}

/// How many steps unification may take in all; far more than any sensible expression needs.
const STEPS_MAX: usize = 500_000;

impl Substitution {
    /// A variable of which nothing is known.
    pub(super) fn fresh(&mut self) -> Type {
        self.bound.push(None);
        Type::Variable(self.bound.len() - 1)
    }

    /// The number of the first of two fresh variables.
    pub(super) fn fresh_pair(&mut self) -> usize {
        self.bound.extend([None, None]);
        self.bound.len() - 2
    }

    /// Whether the types grew too big to go on with.
    pub(super) fn exhausted(&self) -> bool {
        self.steps > STEPS_MAX
    }

    fn find(&self, variable: usize) -> Option<&Type> {
        self.bound.get(variable).and_then(Option::as_ref)
    }

    fn bind(&mut self, variable: usize, to: Type) {
        let before = self.bound[variable].replace(to);
        self.trail.push((variable, before));
    }

    /// Whether `from` may be used where `to` is wanted, for each pair. Learns from a yes; a no
    /// leaves no trace.
    pub(super) fn assignable(&mut self, pairs: &[(&Type, &Type)]) -> bool {
        self.trail.clear();
        let fits = pairs.iter().all(|(from, to)| self.unify(from, to));
        if !fits {
            while let Some((variable, before)) = self.trail.pop() {
                self.bound[variable] = before;
            }
        }
        fits
    }

    fn unify(&mut self, from: &Type, to: &Type) -> bool {
        self.steps += 1;
        if self.exhausted() {
            return true;
        }
        if let Type::Variable(variable) = to {
            match self.bind_or_widen(from, *variable) {
                Bound::Fits => return true,
                Bound::Conflict => return false,
                Bound::Occurs => {}
            }
        }
        if let Type::Variable(variable) = from {
            return matches!(self.bind_or_widen(to, *variable), Bound::Fits);
        }
        match (from, to) {
            (from, to) if from.is_dyn_or_error() || to.is_dyn_or_error() => true,
            (Type::Null, other) | (other, Type::Null) => {
                matches!(
                    other,
                    Type::Null | Type::Object(_) | Type::Optional(_) | Type::Duration | Type::Timestamp
                )
            }
            (Type::Meta(_), Type::Meta(_)) => true,
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => self.unify(a, b),
            (Type::Map(a), Type::Map(b)) => self.unify(&a.0, &b.0) && self.unify(&a.1, &b.1),
            (from, to) => from == to,
        }
    }

    /// Makes `variable` stand for `ty`, or for the more general of `ty` and what it stands for.
    fn bind_or_widen(&mut self, ty: &Type, variable: usize) -> Bound {
        if *ty == Type::Variable(variable) {
            return Bound::Fits;
        }
        if let Some(known) = self.find(variable).cloned() {
            if *ty == known {
                return Bound::Fits;
            }
            if !self.unify(ty, &known) {
                return Bound::Conflict;
            }
            let general = if at_most_as_specific(ty, &known) { ty.clone() } else { known };
            if !self.occurs(variable, &general) {
                self.bind(variable, general);
            }
            return Bound::Fits;
        }
        if self.occurs(variable, ty) {
            return Bound::Occurs;
        }
        self.bind(variable, ty.clone());
        Bound::Fits
    }

    fn occurs(&mut self, variable: usize, within: &Type) -> bool {
        self.steps += 1;
        if self.exhausted() {
            return false;
        }
        match within {
            Type::Variable(other) if *other == variable => true,
            Type::Variable(other) => {
                self.find(*other).cloned().is_some_and(|known| self.occurs(variable, &known))
            }
            Type::List(inner) | Type::Optional(inner) | Type::Meta(inner) => self.occurs(variable, inner),
            Type::Map(entry) => self.occurs(variable, &entry.0) || self.occurs(variable, &entry.1),
            _ => false,
        }
    }

    /// The type with all that is known filled in; unknown variables become dyn if `close`.
    pub(super) fn resolve(&mut self, ty: &Type, close: bool) -> Type {
        self.steps += 1;
        if self.exhausted() {
            return Type::Dyn;
        }
        match ty {
            Type::Variable(variable) => match self.find(*variable).cloned() {
                Some(known) => self.resolve(&known, close),
                None if close => Type::Dyn,
                None => ty.clone(),
            },
            Type::List(element) => Type::list(self.resolve(element, close)),
            Type::Optional(value) => Type::optional(self.resolve(value, close)),
            Type::Meta(of) => Type::Meta(Arc::new(self.resolve(of, close))),
            Type::Map(entry) => Type::map(self.resolve(&entry.0, close), self.resolve(&entry.1, close)),
            other => other.clone(),
        }
    }
}

enum Bound {
    Fits,
    /// It stands for something else.
    Conflict,
    /// The type contains the variable.
    Occurs,
}

/// Whether `a` says no more than `b`: the more general of two types that unify is kept.
pub(super) fn at_most_as_specific(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Dyn | Type::Any | Type::Variable(_), _) | (Type::Meta(_), Type::Meta(_)) => true,
        (_, Type::Dyn | Type::Any | Type::Variable(_)) => false,
        (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => at_most_as_specific(a, b),
        (Type::Map(a), Type::Map(b)) => at_most_as_specific(&a.0, &b.0) && at_most_as_specific(&a.1, &b.1),
        (a, b) => a == b,
    }
}
