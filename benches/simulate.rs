//! `simulate` on a large cluster: 5,000 nodes with 20 devices each and 1,000 pods that want four
//! devices behind one PCIe root. Prints the time per pod and the peak memory.
//!
//! `cargo bench --bench simulate [-- NODES PODS]`
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench looks at the clock, at its memory, and prints"
)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use stowplan::config::{OutputFormat, SimulateSettings};
use stowplan::k8s::{Objects, Reader};
use stowplan::model::Features;
use stowplan::simulate::simulate;

const DEVICES: usize = 20;
/// PCIe roots of a node; devices alternate between them.
const ROOTS: usize = 4;

const CLASS_AND_TEMPLATE: &str = "apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata:
  name: gpu.example.com
spec:
  selectors:
  - cel:
      expression: device.driver == 'gpu.example.com'
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: four-behind-one-root
  namespace: default
spec:
  spec:
    devices:
      requests:
      - name: gpus
        exactly:
          deviceClassName: gpu.example.com
          allocationMode: ExactCount
          count: 4
          selectors:
          - cel:
              expression: device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0
      constraints:
      - matchAttribute: resource.kubernetes.io/pcieRoot
";

fn main() {
    let numbers: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let nodes = numbers.first().copied().unwrap_or(5_000);
    let pods = numbers.get(1).copied().unwrap_or(1_000);
    let start = Instant::now();
    let objects = read(nodes, pods);
    let reading = start.elapsed();
    let read_memory = peak_memory();
    let start = Instant::now();
    let report = simulate(objects, &settings(), &[]);
    let scheduling = start.elapsed();
    let placed = report.pods.iter().filter(|pod| pod.node.is_some()).count();
    println!("{nodes} nodes, {} devices, {pods} pods: {placed} placed", nodes * DEVICES);
    println!("reading     {reading:>10.1?}   peak memory {read_memory}");
    println!(
        "scheduling  {:>10.1?}   {:.1?} per pod   peak memory {}",
        scheduling,
        per(scheduling, pods),
        peak_memory()
    );
}

fn per(time: Duration, count: usize) -> Duration {
    time / u32::try_from(count.max(1)).unwrap_or(u32::MAX)
}

fn settings() -> SimulateSettings {
    SimulateSettings {
        sources: Vec::new(),
        output: OutputFormat::Json,
        scheduler_names: Vec::new(),
        features: Features::default(),
        seed: 0,
        colour: false,
        remarks: false,
        progress: false,
    }
}

/// The objects, through the very reader that files take; no text is kept.
fn read(nodes: usize, pods: usize) -> Objects {
    let mut reader = Reader::new(Features::default());
    reader.add("class.yaml", CLASS_AND_TEMPLATE).expect("YAML");
    for index in 0..nodes {
        reader.add("node.yaml", &node(index)).expect("YAML");
    }
    for index in 0..pods {
        reader.add("pod.yaml", &pod(index)).expect("YAML");
    }
    let objects = reader.finish();
    assert!(objects.invalid.is_empty(), "{:?}", objects.invalid.first());
    objects
}

fn node(index: usize) -> String {
    let mut text = format!(
        "apiVersion: v1
kind: Node
metadata:
  name: node-{index}
  labels:
    kubernetes.io/hostname: node-{index}
status:
  capacity: {{cpu: '64', memory: 512Gi, pods: '110'}}
  allocatable: {{cpu: '64', memory: 512Gi, pods: '110'}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata:
  name: node-{index}-gpu
spec:
  driver: gpu.example.com
  nodeName: node-{index}
  pool: {{name: node-{index}, generation: 1, resourceSliceCount: 1}}
  devices:
"
    );
    for device in 0..DEVICES {
        let root = device % ROOTS;
        let _ = write!(
            text,
            "  - name: gpu-{device}
    attributes:
      index: {{int: {device}}}
      model: {{string: H100}}
      driverVersion: {{version: 1.2.3}}
      resource.kubernetes.io/pcieRoot: {{string: 'pci0000:{root}'}}
    capacity:
      memory: {{value: 80Gi}}
"
        );
    }
    text
}

fn pod(index: usize) -> String {
    format!(
        "apiVersion: v1
kind: Pod
metadata:
  name: pod-{index}
  namespace: default
spec:
  containers:
  - name: main
    image: registry.example.com/app:1
    resources:
      requests: {{cpu: '1', memory: 1Gi}}
      claims:
      - name: gpus
  resourceClaims:
  - name: gpus
    resourceClaimTemplateName: four-behind-one-root
"
    )
}

/// The most memory that this process had at a time, where the system tells.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or_else(|| "unknown".to_owned(), |peak| peak.trim().to_owned())
}
