//! Reads YAML, and JSON as the YAML that it is, into [`Node`]s.
//!
//! The items of a list (`kubectl get -o yaml`) come out one by one as they are read, so that a dump
//! of a whole cluster is never in memory as one tree.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, Tag, options};

use super::{Entry, MAX_DEPTH, Node, Place, Value, scalar};

/// Most values that aliases may add to one file; a "billion laughs" ends here.
const MAX_ALIASED_VALUES: usize = 100_000;

/// What people's editors make of the `-` of a list.
const DASHES: [char; 6] = ['—', '–', '−', '‒', '‐', '‑'];

/// Why a text is not YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)?;
        self.hint.iter().try_for_each(|hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for SyntaxError {}

/// The objects of a text, one after another: every document, and for a list every item with the
/// kind that it has or that the list implies. Ends after the first error.
pub struct Documents<'t> {
    text: &'t str,
    parser: Parser<'t, StrInput<'t>>,
    anchors: BTreeMap<usize, Option<(Node, usize)>>,
    aliased: usize,
    state: State,
}

enum State {
    /// Between two documents.
    Between,
    /// Inside the map of a document; `items` says whether also inside its list of items.
    Inside { head: Node, items: bool, unnamed: Vec<Node>, streamed: bool },
    /// Objects that wait to be given out before the next document is read.
    Ready(VecDeque<Node>),
    /// At the end, or after an error.
    Ended,
}

impl<'t> Documents<'t> {
    /// The objects of this text.
    pub fn new(text: &'t str) -> Self {
        let mut options = options! {
            block_scalar_eof_without_line_feed: true,
            flow_nesting_limit: MAX_DEPTH,
            block_nesting_limit: MAX_DEPTH,
        };
        options.set_emit_comments(false);
        Self {
            text,
            parser: Parser::new_from_str_with_options(text, options),
            anchors: BTreeMap::new(),
            aliased: 0,
            state: State::Between,
        }
    }

    /// The next object, if there is one.
    fn step(&mut self) -> Result<Option<Node>, SyntaxError> {
        loop {
            match std::mem::replace(&mut self.state, State::Ended) {
                State::Ended => return Ok(None),
                State::Between => {
                    if let Some(node) = self.begin_document()? {
                        return Ok(Some(node));
                    }
                }
                State::Ready(mut ready) => match ready.pop_front() {
                    Some(node) => {
                        self.state = State::Ready(ready);
                        return Ok(Some(node));
                    }
                    None => self.state = State::Between,
                },
                State::Inside { mut head, items: false, unnamed, streamed } => {
                    let items = self.head_entry(&mut head)?;
                    self.state = match items {
                        Some(items) => State::Inside { head, items, unnamed, streamed },
                        None => State::Ready(finish(head, unnamed, streamed)),
                    };
                }
                State::Inside { head, items: true, mut unnamed, streamed } => {
                    let (event, span) = self.event()?;
                    if matches!(event, Event::SequenceEnd) {
                        self.state = State::Inside { head, items: false, unnamed, streamed };
                        continue;
                    }
                    let item = self.node(event, span, 2)?;
                    if item.text("kind").is_some() {
                        self.state = State::Inside { head, items: true, unnamed, streamed: true };
                        return Ok(Some(item));
                    }
                    unnamed.push(item);
                    self.state = State::Inside { head, items: true, unnamed, streamed };
                }
            }
        }
    }

    /// Begins a document. One that is no map comes out as it is.
    fn begin_document(&mut self) -> Result<Option<Node>, SyntaxError> {
        loop {
            let (event, span) = self.event()?;
            match event {
                Event::StreamEnd => return Ok(None),
                Event::StreamStart | Event::DocumentEnd => {}
                Event::DocumentStart(..) => self.anchors.clear(),
                Event::MappingStart(_, 0, _) => {
                    let head = Node { place: place(&span), value: Value::Map(Vec::new()) };
                    self.state = State::Inside { head, items: false, unnamed: Vec::new(), streamed: false };
                    return Ok(None);
                }
                event => {
                    let node = self.node(event, span, 0)?;
                    self.state = State::Between;
                    if node.value != Value::Null {
                        return Ok(Some(node));
                    }
                }
            }
        }
    }

    /// Reads one entry of a document's map. `None` at its end, `true` where items of a list begin.
    fn head_entry(&mut self, head: &mut Node) -> Result<Option<bool>, SyntaxError> {
        let (event, span) = self.event()?;
        if matches!(event, Event::MappingEnd) {
            merge(head)?;
            return Ok(None);
        }
        let (key_place, key) = self.key(event, &span, head)?;
        let (event, span) = self.event()?;
        let is_list = head.text("kind").is_none_or(|kind| kind.ends_with("List"));
        if &*key == "items" && is_list && matches!(event, Event::SequenceStart(_, 0, _)) {
            let node = Node { place: place(&span), value: Value::List(Vec::new()) };
            head.put(Entry { place: key_place, key, node });
            return Ok(Some(true));
        }
        let node = self.value(key_place, event, span, 1)?;
        head.put(Entry { place: key_place, key, node });
        Ok(Some(false))
    }

    fn event(&mut self) -> Result<(Event<'t>, Span), SyntaxError> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(self.scan_error(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// The value that begins with this event.
    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Node, SyntaxError> {
        let at = place(&span);
        if depth > MAX_DEPTH {
            return Err(error(at, format!("nested deeper than {MAX_DEPTH} levels")));
        }
        let (anchor, value) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, scalar_value(at, &text, style, tag.as_deref())?)
            }
            Event::Alias(id) => return self.alias(at, id),
            Event::SequenceStart(_, anchor, _) => {
                self.begin_anchor(anchor);
                let mut items = Vec::new();
                loop {
                    let (event, span) = self.event()?;
                    if matches!(event, Event::SequenceEnd) {
                        break;
                    }
                    items.push(self.node(event, span, depth + 1)?);
                }
                (anchor, Value::List(items))
            }
            Event::MappingStart(_, anchor, _) => {
                self.begin_anchor(anchor);
                (anchor, self.map(depth)?.value)
            }
            _ => return Err(error(at, "a value was expected here".to_owned())),
        };
        let node = Node { place: at, value };
        if anchor != 0 {
            let count = size(&node);
            self.anchors.insert(anchor, Some((node.clone(), count)));
        }
        Ok(node)
    }

    fn map(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        let mut map = Node { place: Place::default(), value: Value::Map(Vec::new()) };
        loop {
            let (event, span) = self.event()?;
            if matches!(event, Event::MappingEnd) {
                merge(&mut map)?;
                return Ok(map);
            }
            let (place, key) = self.key(event, &span, &map)?;
            let (event, span) = self.event()?;
            let node = self.value(place, event, span, depth + 1)?;
            map.put(Entry { place, key, node });
        }
    }

    /// A key, by the rules of `sigs.k8s.io/yaml`: numbers and truth values become text.
    fn key(&self, event: Event<'t>, span: &Span, map: &Node) -> Result<(Place, Box<str>), SyntaxError> {
        let at = place(span);
        let Event::Scalar(text, style, _, tag) = event else {
            return Err(error(at, "a key must be a text".to_owned()));
        };
        if style == ScalarStyle::Plain && begins_with_dash(&text) {
            return Err(self.wrong_dash(at));
        }
        let key: Box<str> = match scalar_value(at, &text, style, tag.as_deref())? {
            Value::String(text) => text,
            Value::Bool(truth) => truth.to_string().into(),
            Value::Int(number) => number.to_string().into(),
            Value::Float(number) => number.to_string().into(),
            _ => return Err(error(at, "a key must be a text, not null".to_owned())),
        };
        if let Some(first) = map.entry(&key).filter(|_| &*key != "<<") {
            return Err(error(at, format!("key {key:?} is already set in line {}", first.place.line)));
        }
        Ok((at, key))
    }

    fn value(&mut self, key: Place, event: Event<'t>, span: Span, depth: usize) -> Result<Node, SyntaxError> {
        if let Event::Scalar(text, ScalarStyle::Plain, ..) = &event
            && begins_with_dash(text)
            && place(&span).line > key.line
        {
            return Err(self.wrong_dash(place(&span)));
        }
        self.node(event, span, depth)
    }

    fn begin_anchor(&mut self, anchor: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
    }

    fn alias(&mut self, at: Place, id: usize) -> Result<Node, SyntaxError> {
        match self.anchors.get(&id) {
            Some(Some((node, count))) => {
                self.aliased += count;
                if self.aliased > MAX_ALIASED_VALUES {
                    let message = format!("aliases add more than {MAX_ALIASED_VALUES} values");
                    return Err(error(at, message));
                }
                Ok(node.clone())
            }
            Some(None) => Err(error(at, "the anchored value contains itself".to_owned())),
            None => Err(error(at, "unknown anchor".to_owned())),
        }
    }

    fn scan_error(&self, scan: &ScanError) -> SyntaxError {
        let at = Place { line: narrow(scan.marker().line()), column: narrow(scan.marker().col() + 1) };
        // The parser stumbles over a wrong dash a line or two after it.
        let last = scan.marker().line();
        let dash = self
            .text
            .lines()
            .take(last)
            .enumerate()
            .skip(last.saturating_sub(12))
            .find(|(_, line)| begins_with_dash(line.trim_start()));
        if let Some((index, line)) = dash {
            let indent = line.chars().take_while(|c| c.is_whitespace()).count();
            return self.wrong_dash(Place { line: narrow(index + 1), column: narrow(indent + 1) });
        }
        let tab = self
            .text
            .lines()
            .nth(last.saturating_sub(1))
            .is_some_and(|line| line.chars().take_while(|c| c.is_whitespace()).any(|c| c == '\t'));
        let hint = if tab { "YAML is indented with spaces, not with tabs" } else { "correct the YAML there" };
        SyntaxError { place: at, message: format!("not YAML: {}", scan.info()), hint: Some(hint.to_owned()) }
    }

    fn wrong_dash(&self, at: Place) -> SyntaxError {
        let line = self.text.lines().nth(at.line.saturating_sub(1) as usize).unwrap_or_default();
        let dash = line.trim_start().chars().next().unwrap_or('—');
        let name = match dash {
            '—' => "an em dash",
            '–' => "an en dash",
            _ => "another dash",
        };
        SyntaxError {
            place: at,
            message: format!("a list item begins with {name} ({dash}), which is not YAML"),
            hint: Some(format!("write a plain hyphen: `{}`", line.trim().replacen(dash, "-", 1))),
        }
    }
}

impl Iterator for Documents<'_> {
    type Item = Result<Node, SyntaxError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.step().transpose();
        if matches!(next, Some(Err(_))) {
            self.state = State::Ended;
        }
        next
    }
}

/// What is left to give out at the end of a document: items that name no kind get that of the
/// list; a map with `items` that is no list gets them back.
fn finish(mut head: Node, unnamed: Vec<Node>, streamed: bool) -> VecDeque<Node> {
    let kind = head.text("kind").and_then(|kind| kind.strip_suffix("List")).map(str::to_owned);
    let Some(kind) = kind else {
        if let Value::Map(entries) = &mut head.value
            && let Some(entry) =
                entries.iter_mut().find(|entry| &*entry.key == "items" && !unnamed.is_empty())
        {
            entry.node.value = Value::List(unnamed);
        }
        return if streamed { VecDeque::new() } else { VecDeque::from([head]) };
    };
    let api_version = head.get("apiVersion").cloned();
    let named = unnamed.into_iter().map(|mut item| {
        if let Value::Map(entries) = &mut item.value {
            let place = item.place;
            if !kind.is_empty() {
                let node = Node { place, value: Value::String(kind.as_str().into()) };
                entries.insert(0, Entry { place, key: "kind".into(), node });
            }
            let missing = entries.iter().all(|entry| &*entry.key != "apiVersion");
            if let Some(node) = api_version.clone().filter(|_| missing) {
                entries.insert(0, Entry { place, key: "apiVersion".into(), node });
            }
        }
        item
    });
    named.collect()
}

/// Applies the merge keys (`<<`) of a map; its own keys win, then those of earlier maps.
fn merge(map: &mut Node) -> Result<(), SyntaxError> {
    while let Some(merged) = map.take("<<") {
        let sources = match &merged.node.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(&merged.node),
        };
        for source in sources {
            let Value::Map(entries) = &source.value else {
                return Err(error(merged.place, "a map merge requires a map or a list of maps".to_owned()));
            };
            for entry in entries {
                if map.entry(&entry.key).is_none() {
                    map.put(entry.clone());
                }
            }
        }
    }
    Ok(())
}

fn scalar_value(at: Place, text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, SyntaxError> {
    let value = match tag {
        Some(tag) => match tag.core_suffix() {
            Some(core) => scalar::resolve_tagged(core, text),
            None => Some(Value::String(text.into())),
        },
        None if style == ScalarStyle::Plain => scalar::resolve(text),
        None => Some(Value::String(text.into())),
    };
    value.ok_or_else(|| match tag {
        Some(tag) => error(at, format!("cannot decode {text:?} as {}", tag.original())),
        None => error(at, format!("{text} is a number that JSON cannot carry")),
    })
}

fn begins_with_dash(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| DASHES.contains(&c)) && chars.next().is_none_or(char::is_whitespace)
}

fn size(node: &Node) -> usize {
    1 + node.items().iter().map(size).sum::<usize>()
        + node.entries().iter().map(|entry| size(&entry.node)).sum::<usize>()
}

fn place(span: &Span) -> Place {
    Place { line: narrow(span.start.line()), column: narrow(span.start.col() + 1) }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn error(place: Place, message: String) -> SyntaxError {
    SyntaxError { place, message, hint: None }
}
