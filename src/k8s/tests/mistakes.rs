//! Hints for selectors and names.

use super::cases::read_text;
use crate::k8s::mistakes::{DeviceNames, class_hint, selector_hint};

fn names() -> DeviceNames {
    let objects = read_text(
        "\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpu}
spec:
  driver: gpu.acme.io
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  nodeName: n1
  devices:
  - name: gpu-0
    attributes:
      model: {string: a100}
      resource.kubernetes.io/pcieRoot: {string: 'pci0000:80'}
    capacity:
      memory: {value: 80Gi}
",
    );
    assert_eq!(objects.invalid, []);
    DeviceNames::of(objects.slices.iter().map(|read| &read.object))
}

#[test]
fn a_capacity_read_as_an_attribute_gets_its_right_form_with_the_real_domain() {
    let right = "memory is a capacity, and capacities are keyed by the driver's domain: \
                 `device.capacity['gpu.acme.io'].memory.compareTo(quantity('40Gi')) >= 0`";
    for wrong in [
        "device.attributes['memory'].quantity >= '40Gi'",
        "device.driver == 'x' && device.attributes[\"memory\"].quantity >= \"40Gi\"",
        "device.attributes['gpu.acme.io'].memory >= '40Gi'",
        "device.capacity['gpu.acme.io'].memory >= '40Gi'",
        "device.capacity['memory'] >= '40Gi'",
        "device.attributes.memory.quantity >= '40Gi'",
        "device.attributes['memory'].quantity.isGreaterThan(x)",
    ] {
        assert_eq!(selector_hint(wrong, &names()).as_deref(), Some(right), "{wrong}");
    }
}

#[test]
fn without_slices_the_domain_is_a_placeholder() {
    let hint = selector_hint("device.attributes['memory'].quantity >= '40Gi'", &DeviceNames::default());
    let right = "`device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0`";
    assert!(hint.unwrap().ends_with(right));
}

#[test]
fn unknown_names_and_domains_get_the_nearest() {
    let table = [
        (
            "device.attributes['gpu.acme.io'].modle == 'a100'",
            "did you mean `device.attributes['gpu.acme.io'].model`?",
        ),
        ("device.attributes['gpu.acme.oi'].vendor == 'x'", "(did you mean \"gpu.acme.io\"?)"),
        ("device.attributes['gpu.acme.io'].sharing == 'none'", "there are model"),
        ("device.attributes['model'] == 'a100'", "`device.attributes['gpu.acme.io'].model`"),
        (
            "device.attributes['acme.io'].pcieRoot == 'x'",
            "`device.attributes['resource.kubernetes.io'].pcieRoot`",
        ),
        ("device.capacity['gpu.acme.io'].model == 'x'", "model is an attribute"),
    ];
    for (wrong, part) in table {
        let hint = selector_hint(wrong, &names()).unwrap_or_default();
        assert!(hint.contains(part), "{wrong}: {hint}");
    }
}

#[test]
fn right_selectors_get_no_hint() {
    for right in [
        "device.driver == 'gpu.acme.io'",
        "device.attributes['gpu.acme.io'].model == 'a100'",
        "device.capacity['gpu.acme.io'].memory.compareTo(quantity('40Gi')) >= 0",
        "'gpu.acme.io' in device.attributes",
        "device.attributes['gpu.acme.io'].?model.orValue('') == 'a100'",
        "device.attributes['gpu.acme.io'].exists(k, k == 'model')",
    ] {
        assert_eq!(selector_hint(right, &names()), None, "{right}");
    }
}

#[test]
fn a_class_that_does_not_exist_gets_the_nearest_name() {
    let classes = ["gpu.example.com", "nic.example.com"];
    assert_eq!(
        class_hint("gpu.exmaple.com", classes).as_deref(),
        Some("did you mean device class \"gpu.example.com\"?")
    );
    assert!(class_hint("fpga", classes).unwrap().contains("gpu.example.com, nic.example.com"));
    assert!(class_hint("fpga", []).unwrap().contains("no device class at all"));
}

#[test]
fn a_selector_that_does_not_compile_is_refused_with_its_place_and_the_right_form() {
    let objects = read_text(
        "\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: big}
spec:
  selectors:
  - cel:
      expression: device.capacity['gpu.acme.io'].memory >= '40Gi'
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpu}
spec:
  driver: gpu.acme.io
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  nodeName: n1
  devices:
  - name: gpu-0
    capacity: {memory: {value: 80Gi}}
",
    );
    let [finding] = objects.invalid.as_slice() else { panic!("{:?}", objects.invalid) };
    assert_eq!(finding.field, "spec.selectors[0].cel.expression");
    assert!(finding.message.contains("compilation failed: ERROR: <input>:1:"), "{}", finding.message);
    assert!(finding.message.contains("no matching overload"), "{}", finding.message);
    assert_eq!(finding.line, 7);
    let hint = finding.hint.as_deref().unwrap_or_default();
    assert!(
        hint.contains("device.capacity['gpu.acme.io'].memory.compareTo(quantity('40Gi')) >= 0"),
        "{hint}"
    );
}
