//! The report as a table for a terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::{Attribute, Cell, Color, ContentArrangement, Table, presets};

use super::report::{ClaimReport, DeviceReport, InvalidReport, PodReport, SimulationReport};

/// How much of a device is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Its name.
    Short,
    /// Driver, pool, share, amounts and tolerations too.
    Wide,
}

/// The report as text: placed pods, pods that wait and why, findings, and how many objects of
/// other kinds there were.
pub fn render(
    report: &SimulationReport,
    other_kinds: &BTreeMap<String, usize>,
    detail: Detail,
    colour: bool,
) -> String {
    let paint = Paint { colour };
    let mut text = String::new();
    if report.pods.is_empty() {
        text.push_str("No pod is waiting for a node.\n");
    } else {
        text.push_str(&pods(&report.pods, detail, paint));
    }
    let said: Vec<_> = report.pods.iter().filter(|pod| pod.message.is_some()).collect();
    for pod in said {
        let state = if pod.node.is_some() { "warning" } else { "pending" };
        let _ = write!(text, "\n{} {}\n", paint.with(&pod.pod, BOLD), paint.with(state, YELLOW));
        for line in pod.message.iter().flat_map(|message| message.lines()) {
            let _ = writeln!(text, "  {line}");
        }
    }
    for finding in &report.invalid {
        text.push_str(&invalid(finding, paint));
    }
    if !other_kinds.is_empty() {
        text.push_str(&others(other_kinds));
    }
    text
}

/// One line about the objects that do not matter for placing pods.
pub fn others(other_kinds: &BTreeMap<String, usize>) -> String {
    let total: usize = other_kinds.values().sum();
    let kinds: Vec<_> = other_kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let objects = if total == 1 { "object of another kind was" } else { "objects of other kinds were" };
    format!("\n{total} {objects} left out: {}\n", kinds.join(", "))
}

fn pods(pods: &[PodReport], detail: Detail, paint: Paint) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    if paint.colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    let header = match detail {
        Detail::Short => vec!["POD", "NODE", "CLAIM", "DEVICES"],
        Detail::Wide => vec!["POD", "NODE", "CLAIM", "REQUEST", "DEVICE", "CONSUMES", "SHARE", "REMARKS"],
    };
    table.set_header(header.iter().map(|title| Cell::new(title).add_attribute(Attribute::Bold)));
    for pod in pods {
        let node = match &pod.node {
            Some(node) => Cell::new(node).fg(Color::Green),
            None => Cell::new("<pending>").fg(Color::Yellow),
        };
        let mut lead = vec![Cell::new(&pod.pod), node];
        let rows = match detail {
            Detail::Short => pod.claims.iter().map(|claim| vec![claim_name(claim), short(claim)]).collect(),
            Detail::Wide => pod.claims.iter().flat_map(wide).collect::<Vec<_>>(),
        };
        if rows.is_empty() {
            table.add_row(std::mem::take(&mut lead));
        }
        for row in rows {
            let first = if lead.is_empty() { vec![Cell::new(""), Cell::new("")] } else { lead };
            table.add_row(first.into_iter().chain(row.into_iter().map(Cell::new)));
            lead = Vec::new();
        }
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines: Vec<_> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

fn claim_name(claim: &ClaimReport) -> String {
    claim.pod_claim.clone().unwrap_or_else(|| "(extended resources)".to_owned())
}

/// Devices by request, or by the extended resource that they serve.
fn short(claim: &ClaimReport) -> String {
    let names = |devices: &[DeviceReport]| {
        let names: Vec<_> = devices.iter().map(|device| device.device.as_str()).collect();
        names.join(", ")
    };
    if let Some(served) = &claim.extended_resource {
        let parts: Vec<_> =
            served.iter().map(|(resource, devices)| format!("{resource}: {}", names(devices))).collect();
        return parts.join("; ");
    }
    let mut requests: Vec<(&str, Vec<DeviceReport>)> = Vec::new();
    for device in &claim.devices {
        match requests.last_mut() {
            Some((request, devices)) if *request == device.request => devices.push(device.clone()),
            _ => requests.push((&device.request, vec![device.clone()])),
        }
    }
    if requests.is_empty() {
        return "-".to_owned();
    }
    let parts: Vec<_> =
        requests.iter().map(|(request, devices)| format!("{request}: {}", names(devices))).collect();
    parts.join("; ")
}

fn wide(claim: &ClaimReport) -> Vec<Vec<String>> {
    let name = match &claim.pod_claim {
        Some(name) => format!("{name} ({})", claim.claim),
        None => format!("(extended resources) ({})", claim.claim),
    };
    if claim.devices.is_empty() {
        return vec![vec![name, "-".to_owned()]];
    }
    claim
        .devices
        .iter()
        .map(|device| {
            let consumed: Vec<_> = device.consumed_capacity.iter().map(|(k, v)| format!("{k}={v}")).collect();
            let mut remarks = Vec::new();
            if device.admin_access {
                remarks.push("admin access".to_owned());
            }
            for toleration in &device.tolerations {
                let key = if toleration.key.is_empty() { "every taint" } else { toleration.key.as_str() };
                remarks.push(format!("tolerates {key}"));
            }
            vec![
                name.clone(),
                device.request.clone(),
                format!("{}/{}/{}", device.driver, device.pool, device.device),
                or_dash(consumed.join(", ")),
                or_dash(device.share_id.clone().unwrap_or_default()),
                or_dash(remarks.join("; ")),
            ]
        })
        .collect()
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "-".to_owned() } else { text }
}

fn invalid(finding: &InvalidReport, paint: Paint) -> String {
    let InvalidReport { object, field, message, hint, file, line } = finding;
    let field = if message.contains(field.as_str()) { String::new() } else { format!("{field}: ") };
    let mut text = format!("\n{file}:{line}: {}: {field}{message}\n", paint.with(object, RED));
    for line in hint.iter().flat_map(|hint| hint.lines()) {
        let _ = writeln!(text, "    {line}");
    }
    text
}

const BOLD: &str = "1";
const RED: &str = "31";
const YELLOW: &str = "33";

#[derive(Clone, Copy)]
struct Paint {
    colour: bool,
}

impl Paint {
    fn with(self, text: &str, code: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
