//! Draws expressions out of `grammar.txt`, whose head says how it is written.

use std::fmt;

use crate::chance::Chance;
use crate::literals;

/// A type of CEL, or a group of lines: `int`, `list(A)`. A capital alone stands for any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kind {
    name: String,
    parameters: Vec<Kind>,
}

/// What a template is made of.
#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    /// A word that [`literals`] draws.
    Word(String),
    /// An expression of a kind, in which the line's own variables may stand or not.
    Hole {
        kind: Kind,
        outside: bool,
    },
    /// The name of a variable, declared here if it has a kind.
    Variable {
        name: char,
        kind: Option<Kind>,
    },
}

#[derive(Clone, Debug)]
struct Line {
    weight: usize,
    kind: Kind,
    /// Whether it may be drawn deep down.
    shallow: bool,
    template: Vec<Piece>,
    /// Whether it ends or begins with an operand, so that what stands around it may tear it apart.
    loose: bool,
}

/// An expression with the expressions that it is made of.
#[derive(Clone, Debug)]
pub struct Tree {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Tree(Tree),
}

/// Which expression of a tree: the index of a child, then of its child …
type Place = Vec<usize>;

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Tree(tree) => write!(f, "{tree}"),
        })
    }
}

impl Tree {
    /// A tree of nothing but text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::Text(text.into())] }
    }

    /// The places of all expressions but the whole.
    pub fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for (at, part) in self.parts.iter().enumerate() {
            if let Part::Tree(tree) = part {
                places.push(vec![at]);
                places.extend(tree.places().into_iter().map(|place| [vec![at], place].concat()));
            }
        }
        places
    }

    /// The expression at a place.
    pub fn at(&self, place: &[usize]) -> &Self {
        match place.split_first() {
            Some((at, rest)) => match &self.parts[*at] {
                Part::Tree(tree) => tree.at(rest),
                Part::Text(_) => self,
            },
            None => self,
        }
    }

    /// The tree with another expression at a place.
    pub fn with(&self, place: &[usize], other: &Self) -> Self {
        let Some((at, rest)) = place.split_first() else { return other.clone() };
        let mut tree = self.clone();
        if let Part::Tree(child) = &mut tree.parts[*at] {
            *child = child.with(rest, other);
        }
        tree
    }
}

/// How often something is drawn that does not belong there, in a hundred.
const ILL_TYPED: usize = 1;
const DYNAMIC: usize = 3;

/// What expressions are drawn from.
pub struct Grammar {
    lines: Vec<Line>,
}

/// Kinds that stand for any kind, by how often.
const ANY: &[&str] = &[
    "bool",
    "int",
    "int",
    "string",
    "string",
    "uint",
    "double",
    "bytes",
    "quantity",
    "semver",
    "dyn",
    "list(int)",
    "list(string)",
    "map(string, int)",
    "optional(int)",
    "duration",
    "timestamp",
    "ip",
    "null",
    "type",
];

impl Grammar {
    /// Reads `grammar.txt`.
    pub fn read() -> Self {
        let lines = include_str!("grammar.txt").lines();
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(Line::read);
        Self { lines: lines.collect() }
    }

    /// An expression of the kind that a text says.
    pub fn draw(&self, chance: &mut Chance, kind: &str, depth: i32) -> Tree {
        self.expression(chance, &Kind::read(kind), depth, &mut Vec::new())
    }

    /// A kind that a variable of a line may stand for.
    fn any(chance: &mut Chance) -> Kind {
        Kind::read(literals::one(chance, ANY))
    }

    fn expression(
        &self,
        chance: &mut Chance,
        wanted: &Kind,
        depth: i32,
        scope: &mut Vec<(String, Kind)>,
    ) -> Tree {
        let kind = if chance.percent(ILL_TYPED) { &Self::any(chance) } else { wanted };
        if depth > 0 && chance.percent(DYNAMIC) && ANY.contains(&&*kind.to_string()) {
            let inner = self.expression(chance, kind, depth - 1, scope);
            let parts = vec![Part::Text("dyn(".into()), Part::Tree(inner), Part::Text(")".into())];
            return Tree { parts };
        }
        let known: Vec<_> = scope.iter().filter(|(_, known)| known == kind).collect();
        if !known.is_empty() && chance.percent(if depth > 0 { 35 } else { 70 }) {
            return Tree::text(&chance.pick(&known).0);
        }
        let fitting: Vec<(&Line, Bindings)> = self
            .lines
            .iter()
            .filter(|line| line.shallow || depth > 0)
            .filter_map(|line| Some((line, line.kind.bind(kind)?)))
            .collect();
        let total: usize = fitting.iter().map(|(line, _)| line.weight).sum();
        assert!(total > 0, "grammar.txt has no line for {kind} at depth {depth}");
        let mut left = chance.below(total);
        let at = fitting.iter().position(|(line, _)| {
            let found = left < line.weight;
            left = left.saturating_sub(line.weight);
            found
        });
        let (line, bindings) = fitting[at.unwrap_or(0)].clone();
        self.fill(chance, line, bindings, depth - 1, scope)
    }

    /// Puts words, expressions and variables into a template.
    fn fill(
        &self,
        chance: &mut Chance,
        line: &Line,
        mut bindings: Bindings,
        depth: i32,
        scope: &mut Vec<(String, Kind)>,
    ) -> Tree {
        let outside = scope.len();
        let mut names: Vec<(char, String)> = Vec::new();
        let mut parts = Vec::new();
        for piece in &line.template {
            parts.push(match piece {
                Piece::Text(text) => Part::Text(text.clone()),
                Piece::Word(word) => Part::Text(literals::draw(chance, word)),
                Piece::Variable { name, kind: Some(kind) } => {
                    let chosen = literals::variable(chance, *name);
                    names.push((*name, chosen.clone()));
                    scope.push((chosen.clone(), kind.resolve(&mut bindings, chance)));
                    Part::Text(chosen)
                }
                Piece::Variable { name, kind: None } => {
                    let known = names.iter().find(|(known, _)| known == name);
                    Part::Text(known.map_or_else(|| name.to_string(), |(_, chosen)| chosen.clone()))
                }
                Piece::Hole { kind, outside: is_outside } => {
                    let kind = kind.resolve(&mut bindings, chance);
                    let hidden = if *is_outside { scope.split_off(outside) } else { Vec::new() };
                    let tree = self.expression(chance, &kind, depth, scope);
                    scope.extend(hidden);
                    Part::Tree(tree)
                }
            });
        }
        scope.truncate(outside);
        let mut tree = Tree { parts };
        if line.loose && chance.percent(92) {
            tree.parts.insert(0, Part::Text("(".into()));
            tree.parts.push(Part::Text(")".into()));
        }
        tree
    }
}

/// What the variables of a line stand for.
type Bindings = Vec<(String, Kind)>;

impl Kind {
    fn read(text: &str) -> Self {
        let (kind, rest) = Self::begin(text);
        assert!(rest.is_empty(), "{text} is no kind");
        kind
    }

    /// The kind at the beginning of a text, and what follows it.
    fn begin(text: &str) -> (Self, &str) {
        let end = text.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(text.len());
        let end = if end == 0 { 1 } else { end };
        let (name, mut rest) = text.split_at(end);
        let mut parameters = Vec::new();
        if matches!(name, "list" | "map" | "optional") {
            rest = rest.strip_prefix('(').unwrap_or_else(|| panic!("{text}: parameters are missing"));
            loop {
                let (parameter, after) = Self::begin(rest);
                parameters.push(parameter);
                let Some(after) = after.strip_prefix(", ") else {
                    rest = after.strip_prefix(')').unwrap_or_else(|| panic!("{text}: no `)`"));
                    break;
                };
                rest = after;
            }
        }
        (Self { name: name.to_owned(), parameters }, rest)
    }

    fn is_variable(&self) -> bool {
        self.name.starts_with(|c: char| c.is_ascii_uppercase())
    }

    /// What the variables of this kind must stand for if it is to be `other`.
    fn bind(&self, other: &Self) -> Option<Bindings> {
        let mut bindings = Vec::new();
        self.bind_into(other, &mut bindings).then_some(bindings)
    }

    fn bind_into(&self, other: &Self, bindings: &mut Bindings) -> bool {
        if self.is_variable() {
            // A group is no type that a line for any type may make.
            let is_group = matches!(&*other.name, "heavy" | "long" | "list-of-many" | "list-of-some");
            let bound = bindings.iter().find(|(name, _)| *name == self.name).map(|(_, kind)| kind.clone());
            if bound.is_none() {
                bindings.push((self.name.clone(), other.clone()));
            }
            return !is_group && bound.is_none_or(|bound| bound == *other);
        }
        self.name == other.name
            && self.parameters.iter().zip(&other.parameters).all(|(a, b)| a.bind_into(b, bindings))
    }

    /// The kind without variables; those that stand for nothing yet get something.
    fn resolve(&self, bindings: &mut Bindings, chance: &mut Chance) -> Self {
        if self.is_variable() {
            if let Some((_, bound)) = bindings.iter().find(|(name, _)| *name == self.name) {
                return bound.clone();
            }
            let kind = Grammar::any(chance);
            bindings.push((self.name.clone(), kind.clone()));
            return kind;
        }
        let parameters = self.parameters.iter().map(|kind| kind.resolve(bindings, chance)).collect();
        Self { name: self.name.clone(), parameters }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (at, parameter) in self.parameters.iter().enumerate() {
            write!(f, "{}{parameter}", if at == 0 { "(" } else { ", " })?;
        }
        f.write_str(if self.parameters.is_empty() { "" } else { ")" })
    }
}

impl Line {
    fn read(line: &str) -> Self {
        let digits = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        let weight = line[..digits].parse().unwrap_or(1);
        let (kind, rest) = Kind::begin(line[digits..].trim_start());
        let (shallow, template) = match (rest.strip_prefix(" := "), rest.strip_prefix(": ")) {
            (Some(template), _) => (true, template),
            (_, Some(template)) => (false, template),
            _ => panic!("grammar.txt: {line}"),
        };
        Self { weight, kind, shallow, template: pieces(template), loose: is_loose(template) }
    }
}

/// Whether an operator stands outside of all brackets.
fn is_loose(template: &str) -> bool {
    let mut depth = 0;
    let mut previous = ' ';
    for c in template.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ' ' if depth == 0 && previous != ',' => return true,
            _ => {}
        }
        previous = c;
    }
    template.starts_with(['-', '!'])
}

fn pieces(template: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find(['$', '@']) {
        if at > 0 {
            pieces.push(Piece::Text(rest[..at].to_owned()));
        }
        let is_variable = rest[at..].starts_with('@');
        rest = &rest[at + 1..];
        if is_variable {
            let name = rest.chars().next().unwrap_or('x');
            rest = &rest[1..];
            let declared = rest.strip_prefix(':').filter(|after| !after.starts_with(' '));
            let kind = declared.map(|after| {
                let (kind, after) = Kind::begin(after);
                rest = after;
                kind
            });
            pieces.push(Piece::Variable { name, kind });
        } else if let Some(after) = rest.strip_prefix('#') {
            let end = after.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(after.len());
            pieces.push(Piece::Word(after[..end].to_owned()));
            rest = &after[end..];
        } else {
            let inner = rest.strip_prefix('^');
            let (kind, after) = Kind::begin(inner.unwrap_or(rest));
            pieces.push(Piece::Hole { kind, outside: inner.is_some() });
            rest = after;
        }
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    pieces
}
