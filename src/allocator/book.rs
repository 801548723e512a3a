//! What is known about devices whatever their name, node and state: every expression, attribute
//! and amount is computed once for each content and kept. Contents get numbers, and facts stand in
//! tables by these numbers.
//!
//! Purely a memo: dropping it changes no answer.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::model::{AttributeValue, DeviceContent, Name, Quantity};

use super::capacity::{Suits, suits};
use super::constraint::Attribute;
use super::projection::Touched;
use super::rules::Rules;
use super::selector::{Compiler, Program};

/// The number of a driver and content.
pub(super) type ContentId = usize;
/// The number of an expression.
pub(super) type SelectorId = usize;
/// The number of an attribute as constraints look it up.
pub(super) type AttributeId = usize;
/// The number of a list of requested amounts.
pub(super) type AskId = usize;
/// The number of a set of attributes that claims look at.
pub(super) type ProjectionId = usize;

/// What an expression says about a content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Matches,
    Differs,
    /// It does not compile.
    Broken(Name),
    /// It failed on this content.
    Failed(Name),
}

/// Where the value of an attribute comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// The device, by fully qualified name.
    Static(Name),
    /// An expression of the request.
    Derived(Arc<str>),
}

#[derive(Debug)]
struct Selector {
    program: Result<Program, Name>,
    verdicts: Vec<Option<Verdict>>,
}

#[derive(Debug)]
struct AttributeTable {
    source: Source,
    program: Option<Result<Program, Name>>,
    values: Vec<Option<Attribute>>,
}

#[derive(Debug)]
struct CapacityTable {
    asked: Box<[(Name, Quantity)]>,
    suits: Vec<Option<Suits>>,
}

#[derive(Debug)]
struct ProjectionTable {
    touched: Touched,
    numbers: Vec<Option<usize>>,
    by_content: FxHashMap<(Name, DeviceContent), usize>,
}

/// Numbers and facts. Hash maps are only looked up in, never walked.
#[derive(Debug)]
pub(super) struct Book {
    compiler: Compiler,
    lists: bool,
    fractional: bool,
    drivers: FxHashMap<Name, usize>,
    contents: Vec<(Name, Arc<DeviceContent>)>,
    by_content: FxHashMap<(usize, Arc<DeviceContent>), ContentId>,
    /// By address; the value keeps what lives there alive, so that no address is used twice.
    by_address: FxHashMap<(usize, usize), (ContentId, Arc<DeviceContent>)>,
    elements: FxHashMap<AttributeValue, usize>,
    selectors: Vec<Selector>,
    by_expression: FxHashMap<Arc<str>, SelectorId>,
    attributes: Vec<AttributeTable>,
    by_source: FxHashMap<Source, AttributeId>,
    capacities: Vec<CapacityTable>,
    by_ask: FxHashMap<Box<[(Name, Quantity)]>, AskId>,
    projections: Vec<ProjectionTable>,
    by_touched: FxHashMap<Touched, ProjectionId>,
}

/// The entry of a table, which grows as needed.
fn slot<T: Clone>(table: &mut Vec<Option<T>>, at: usize) -> &mut Option<T> {
    if table.len() <= at {
        table.resize(at + 1, None);
    }
    &mut table[at]
}

impl Book {
    pub fn new(rules: &Rules) -> Self {
        Self {
            compiler: Compiler::new(&rules.features),
            lists: rules.lists,
            fractional: rules.fractional,
            drivers: FxHashMap::default(),
            contents: Vec::new(),
            by_content: FxHashMap::default(),
            by_address: FxHashMap::default(),
            elements: FxHashMap::default(),
            selectors: Vec::new(),
            by_expression: FxHashMap::default(),
            attributes: Vec::new(),
            by_source: FxHashMap::default(),
            capacities: Vec::new(),
            by_ask: FxHashMap::default(),
            projections: Vec::new(),
            by_touched: FxHashMap::default(),
        }
    }

    /// How many contents have a number.
    pub fn contents(&self) -> usize {
        self.contents.len()
    }

    /// The number of a driver.
    pub fn driver(&mut self, driver: &Name) -> usize {
        if let Some(id) = self.drivers.get(driver) {
            return *id;
        }
        let id = self.drivers.len();
        self.drivers.insert(driver.clone(), id);
        id
    }

    /// The number of a content, equal for equal contents of one driver.
    pub fn content(&mut self, driver: &Name, content: &Arc<DeviceContent>) -> ContentId {
        let driver_id = self.driver(driver);
        let address = (driver_id, Arc::as_ptr(content).addr());
        if let Some((id, _)) = self.by_address.get(&address) {
            return *id;
        }
        let next = self.contents.len();
        let id = *self.by_content.entry((driver_id, Arc::clone(content))).or_insert(next);
        if id == next {
            self.contents.push((driver.clone(), Arc::clone(content)));
        }
        self.by_address.insert(address, (id, Arc::clone(content)));
        id
    }

    /// The number of an expression, which is compiled when it is first seen.
    pub fn selector(&mut self, expression: &Arc<str>) -> SelectorId {
        if let Some(id) = self.by_expression.get(expression) {
            return *id;
        }
        let id = self.selectors.len();
        self.selectors.push(Selector { program: self.compiler.selector(expression), verdicts: Vec::new() });
        self.by_expression.insert(Arc::clone(expression), id);
        id
    }

    /// What an expression says about a content.
    pub fn verdict(&mut self, selector: SelectorId, content: ContentId) -> &Verdict {
        let Selector { program, verdicts } = &mut self.selectors[selector];
        let (driver, device) = &self.contents[content];
        slot(verdicts, content).get_or_insert_with(|| match program {
            Err(error) => Verdict::Broken(error.clone()),
            Ok(program) => match program.matches(driver, device) {
                Ok(true) => Verdict::Matches,
                Ok(false) => Verdict::Differs,
                Err(error) => Verdict::Failed(error),
            },
        })
    }

    /// The number of an attribute.
    pub fn attribute(&mut self, source: Source) -> AttributeId {
        if let Some(id) = self.by_source.get(&source) {
            return *id;
        }
        let id = self.attributes.len();
        let program = match &source {
            Source::Static(_) => None,
            Source::Derived(expression) => Some(self.compiler.derived(expression)),
        };
        self.attributes.push(AttributeTable { source: source.clone(), program, values: Vec::new() });
        self.by_source.insert(source, id);
        id
    }

    /// The value of an attribute, as constraints compare it.
    pub fn value(&mut self, attribute: AttributeId, content: ContentId) -> &Attribute {
        let Self { attributes, contents, elements, .. } = self;
        let AttributeTable { source, program, values } = &mut attributes[attribute];
        let (driver, device) = &contents[content];
        let lists = self.lists;
        let mut number = |value: AttributeValue| {
            let next = elements.len();
            *elements.entry(value).or_insert(next)
        };
        slot(values, content).get_or_insert_with(|| match (source, program) {
            (Source::Static(name), _) => match device.qualified_attribute(driver, name) {
                Some(value) => Attribute::new(value, lists, &mut number),
                None => Attribute::Absent,
            },
            (_, Some(Ok(program))) => match program.value(driver, device) {
                Ok(value) => Attribute::new(&value, lists, &mut number),
                Err(error) => Attribute::Failed(error),
            },
            (_, Some(Err(error))) => Attribute::Broken(error.clone()),
            (Source::Derived(_), None) => Attribute::Absent,
        })
    }

    /// The number of a list of requested amounts.
    pub fn ask(&mut self, asked: &[(Name, Quantity)]) -> AskId {
        if let Some(id) = self.by_ask.get(asked) {
            return *id;
        }
        let id = self.capacities.len();
        self.capacities.push(CapacityTable { asked: asked.into(), suits: Vec::new() });
        self.by_ask.insert(asked.into(), id);
        id
    }

    /// Whether a content has what is asked for, as long as nobody else uses the device.
    pub fn suits(&mut self, ask: AskId, content: ContentId) -> &Suits {
        let CapacityTable { asked, suits: known } = &mut self.capacities[ask];
        let device = &self.contents[content].1;
        slot(known, content).get_or_insert_with(|| suits(asked, device, self.fractional))
    }

    /// What a selector looks at. One that does not compile fails on every device alike.
    pub fn touched_by_selector(&self, selector: SelectorId) -> Touched {
        self.selectors[selector].program.as_ref().map_or_else(|_| Touched::default(), Program::touched)
    }

    /// What a constraint on an attribute looks at.
    pub fn touched_by_constraint(&self, attribute: AttributeId) -> Touched {
        let AttributeTable { source, program, .. } = &self.attributes[attribute];
        match (source, program) {
            (Source::Static(name), _) => Touched::by_name(name),
            (Source::Derived(_), Some(Ok(program))) => program.touched(),
            (Source::Derived(_), _) => Touched::default(),
        }
    }

    /// The number of a set of attributes.
    pub fn projection(&mut self, touched: Touched) -> ProjectionId {
        if let Some(id) = self.by_touched.get(&touched) {
            return *id;
        }
        let id = self.projections.len();
        let (numbers, by_content) = (Vec::new(), FxHashMap::default());
        self.projections.push(ProjectionTable { touched: touched.clone(), numbers, by_content });
        self.by_touched.insert(touched, id);
        id
    }

    /// The number of what a projection leaves of a content, equal for contents of one driver that
    /// differ in nothing else.
    pub fn projected(&mut self, projection: ProjectionId, content: ContentId) -> usize {
        let ProjectionTable { touched, numbers, by_content } = &mut self.projections[projection];
        if *touched == Touched::All {
            return content;
        }
        let (driver, device) = &self.contents[content];
        *slot(numbers, content).get_or_insert_with(|| {
            let next = by_content.len();
            *by_content.entry((driver.clone(), touched.project(device))).or_insert(next)
        })
    }
}
