//! Texts as device selectors: compiled and evaluated on a few devices, they end in a verdict within the
//! cost limit, always in the same one, and look at nothing but what they are said to look at.

use stowplan::cel::{
    COST_LIMIT, CompileError, DeviceInput, Environment, Program, Section, TouchedPaths, compile,
};
use stowplan::model::{AttributeValue, Capacity, DeviceContent, Features, KubernetesVersion, Name, Quantity};

/// Holds the compiler and the machine to their promises. Says what becomes of the expression.
pub fn check(bytes: &[u8]) -> &'static str {
    let text = String::from_utf8_lossy(bytes);
    let mut verdict = "refused";
    for version in [KubernetesVersion::V1_34, KubernetesVersion::V1_37] {
        let environment = Environment::new(&Features::of(version));
        verdict = match compile(&text, &environment) {
            Ok(program) => {
                for (driver, content) in devices() {
                    evaluate(&program, driver, &content);
                }
                "compiles"
            }
            Err(error) => {
                explains(&text, &error);
                "refused"
            }
        };
    }
    verdict
}

fn explains(text: &str, error: &CompileError) {
    assert!(!error.to_string().is_empty());
    if let Some((line, column)) = error.position() {
        let lines: Vec<_> = text.split('\n').collect();
        let within = lines
            .get(line as usize - 1)
            .is_some_and(|line| (1..=line.chars().count() + 1).contains(&(column as usize)));
        assert!(within, "no line {line} with column {column}: {error}");
    }
}

fn evaluate(program: &Program, driver: &str, content: &DeviceContent) {
    let device = DeviceInput { driver, content };
    let verdict = program.matches(&device);
    assert_eq!(program.matches(&device), verdict, "asked again");
    let (cost, value) = program.cost(&device);
    assert!(value.is_ok() || verdict.is_err(), "{value:?}, and {verdict:?}");
    // What is charged last may lead over the limit.
    assert!(cost <= COST_LIMIT || value.is_err(), "costs {cost}");
    let touched = program.touched_paths();
    let seen = seen(content, driver, &touched);
    let driver = if touched.driver { driver } else { "another" };
    assert_eq!(
        program.matches(&DeviceInput { driver, content: &seen }),
        verdict,
        "with only what it looks at"
    );
}

/// The device without what an expression does not look at.
fn seen(content: &DeviceContent, driver: &str, touched: &TouchedPaths) -> DeviceContent {
    let looks = |section: Section, name: &str| {
        let (domain, id) = name.split_once('/').unwrap_or((driver, name));
        let member = (section, Box::from(domain), Box::from(id));
        touched.sections.contains(&section)
            || touched.domains.contains(&(section, Box::from(domain)))
            || touched.members.contains(&member)
    };
    let attributes = content.attributes.iter().filter(|(name, value)| {
        looks(Section::Attributes, name) || matches!(value, AttributeValue::Unsupported)
    });
    let capacity = content.capacity.iter().filter(|(name, _)| looks(Section::Capacity, name));
    DeviceContent {
        attributes: attributes.cloned().collect(),
        capacity: capacity.cloned().collect(),
        allow_multiple_allocations: content.allow_multiple_allocations && touched.multiple_allocations,
    }
}

/// One device with everything, one with nothing, one that no expression accepts.
fn devices() -> Vec<(&'static str, DeviceContent)> {
    let name = |text: &str| Name::from(text);
    let attributes = [
        ("bools", AttributeValue::Bools(Box::new([true, false]))),
        ("drv", AttributeValue::Version(name("1.2.3"))),
        ("ecc", AttributeValue::Bool(true)),
        ("ints", AttributeValue::Ints(Box::new([1, 2, 3]))),
        ("mem", AttributeValue::Int(40)),
        ("model", AttributeValue::String(name("a100"))),
        ("other.io/numa", AttributeValue::Int(1)),
        ("strs", AttributeValue::Strings(Box::new([name("a"), name("b")]))),
        ("vers", AttributeValue::Versions(Box::new([name("1.0.0"), name("2.0.0")]))),
    ];
    let capacity = [("memory", "40Gi"), ("other.io/bw", "100M")];
    let amount = |text: &str| Capacity { value: text.parse::<Quantity>().expect("a quantity"), policy: None };
    let full = DeviceContent {
        attributes: attributes.into_iter().map(|(text, value)| (name(text), value)).collect(),
        capacity: capacity.into_iter().map(|(text, value)| (name(text), amount(value))).collect(),
        allow_multiple_allocations: true,
    };
    let broken = DeviceContent {
        attributes: Box::new([(name("bad"), AttributeValue::Unsupported)]),
        ..DeviceContent::default()
    };
    vec![("dra.example.com", full), ("b", DeviceContent::default()), ("c", broken)]
}
