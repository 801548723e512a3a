//! Limits: the greatest size passes, one more does not.

use std::fmt::Write as _;

use super::cases::findings;

fn claim(devices: &str) -> String {
    let head =
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c, namespace: default}\n";
    format!("{head}spec:\n  devices: {devices}\n")
}

fn slice(spec: &str) -> String {
    let head = "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\n";
    let pool = "driver: d.example.com, pool: {name: p, generation: 1, resourceSliceCount: 1}, nodeName: n1";
    format!("{head}spec: {{{pool}, {spec}}}\n")
}

/// `count` times `item`, in which `#` is the index.
fn list(item: &str, count: usize) -> String {
    let items: Vec<_> = (0..count).map(|index| item.replace('#', &index.to_string())).collect();
    format!("[{}]", items.join(", "))
}

fn map(entry: &str, count: usize) -> String {
    let list = list(entry, count);
    format!("{{{}}}", &list[1..list.len() - 1])
}

type Case = (&'static str, usize, Box<dyn Fn(usize) -> String>);

/// Lists of a claim with the most that each holds.
fn claim_cases() -> Vec<Case> {
    let request = "{name: r#, exactly: {deviceClassName: a}}";
    let one = "requests: [{name: r, exactly: {deviceClassName: a, ";
    vec![
        (
            "spec.devices.requests",
            32,
            Box::new(move |n| claim(&format!("{{requests: {}}}", list(request, n)))),
        ),
        (
            "spec.devices.requests[0].exactly.selectors",
            32,
            Box::new(move |n| {
                claim(&format!("{{{one}selectors: {}}}}}]}}", list("{cel: {expression: 'true'}}", n)))
            }),
        ),
        (
            "spec.devices.constraints",
            32,
            Box::new(|n| claim(&format!("{{constraints: {}}}", list("{matchAttribute: a.com/b}", n)))),
        ),
        (
            "spec.devices.config",
            32,
            Box::new(|n| {
                let config = "{opaque: {driver: d.example.com, parameters: {}}}";
                claim(&format!("{{config: {}}}", list(config, n)))
            }),
        ),
        (
            "spec.devices.requests[0].firstAvailable",
            8,
            Box::new(|n| {
                let alternatives = list("{name: s#, deviceClassName: a}", n);
                claim(&format!("{{requests: [{{name: r, firstAvailable: {alternatives}}}]}}"))
            }),
        ),
    ]
}

/// Lists and maps of a slice with the most that each holds.
fn slice_cases() -> Vec<Case> {
    let device = "devices: [{name: d, ";
    vec![
        ("spec.devices", 128, Box::new(|n| slice(&format!("devices: {}", list("{name: d#}", n))))),
        (
            "spec.devices",
            64,
            Box::new(|n| {
                let tainted = "{name: d#, taints: [{key: a, effect: None}]}";
                slice(&format!("devices: {}", list(tainted, n)))
            }),
        ),
        (
            "spec.devices[0].taints",
            16,
            Box::new(move |n| slice(&format!("{device}taints: {}}}]", list("{key: a#, effect: None}", n)))),
        ),
        (
            "spec.devices[0].consumesCounters",
            2,
            Box::new(move |n| {
                let set = "{counterSet: c#, counters: {x: {value: 1}}}";
                slice(&format!("{device}consumesCounters: {}}}]", list(set, n)))
            }),
        ),
        (
            "spec.devices[0].consumesCounters[0].counters",
            32,
            Box::new(move |n| {
                let counters = map("c#: {value: 1}", n);
                slice(&format!("{device}consumesCounters: [{{counterSet: c, counters: {counters}}}]}}]"))
            }),
        ),
        (
            "spec.sharedCounters",
            8,
            Box::new(|n| {
                slice(&format!("sharedCounters: {}", list("{name: c#, counters: {x: {value: 1}}}", n)))
            }),
        ),
        (
            "spec.sharedCounters[0].counters",
            32,
            Box::new(|n| {
                slice(&format!("sharedCounters: [{{name: c, counters: {}}}]", map("c#: {value: 1}", n)))
            }),
        ),
    ]
}

#[test]
fn lists_and_maps_hold_what_upstream_lets_them_hold() {
    for (field, max, text) in claim_cases().into_iter().chain(slice_cases()) {
        assert_eq!(findings(&text(max)), [] as [String; 0], "{field} with {max}");
        let found = findings(&text(max + 1));
        let wanted = format!("{field}: Too many: {}: must have at most {max} items", max + 1);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].ends_with(&wanted), "{found:?}");
    }
}

#[test]
fn attributes_and_capacities_of_a_device_are_counted_together() {
    let device = |attributes: usize, capacity: usize| {
        let (attributes, capacity) = (map("a#: {int: 1}", attributes), map("c#: {value: 1}", capacity));
        slice(&format!("devices: [{{name: d, attributes: {attributes}, capacity: {capacity}}}]"))
    };
    assert_eq!(findings(&device(20, 12)), [] as [String; 0]);
    assert!(findings(&device(20, 13))[0].contains("attributes and capacities must not exceed 32"));
}

#[test]
fn long_texts_are_refused_without_being_repeated() {
    let long = "x".repeat(10 * 1024 + 1);
    let mut text = claim(
        "{requests: [{name: r, exactly: {deviceClassName: a, selectors: [{cel: {expression: EXPR}}]}}]}",
    );
    text = text.replace("EXPR", &long);
    let found = findings(&text);
    assert!(
        found[0].ends_with("selectors[0].cel.expression: Too long: may not be more than 10240 bytes"),
        "{found:?}"
    );
    let mut reserved = String::new();
    for index in 0..257 {
        let _ = write!(reserved, "{{resource: pods, name: p, uid: u{index}}}, ");
    }
    let status = format!("status: {{allocation: {{devices: {{}}}}, reservedFor: [{reserved}]}}\n");
    let found = findings(&(claim("{requests: [{name: r, exactly: {deviceClassName: a}}]}") + &status));
    assert!(
        found[0].ends_with("status.reservedFor: Too many: 257: must have at most 256 items"),
        "{found:?}"
    );
}
