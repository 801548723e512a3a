//! The forms of names, and what Kubernetes says about a name of another form
//! (`k8s.io/apimachinery/pkg/util/validation`).

const LABEL_MAX: usize = 63;
const SUBDOMAIN_MAX: usize = 253;

const LABEL_TEXT: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
     start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_TEXT: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
     '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const KEY_TEXT: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
     alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
     '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_TEXT: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
     and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
     validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const IDENTIFIER_TEXT: &str = "a valid C identifier must start with alphabetic character or '_', followed by a string of \
     alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is \
     '[A-Za-z_][A-Za-z0-9_]*')";

fn is_label(text: &str) -> bool {
    let inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    !text.is_empty() && text.as_bytes().iter().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

/// A label of letters of both cases, digits, `-`, `_` and `.`, a letter or digit at either end.
fn is_key(text: &str) -> bool {
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let outer = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.iter().all(inner) && outer(bytes.first()) && outer(bytes.last())
}

fn too_long(max: usize, unit: &str) -> String {
    format!("must be no more than {max} {unit}")
}

/// What is wrong with a DNS label (RFC 1123).
pub(super) fn dns_label(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > LABEL_MAX {
        wrong.push(too_long(LABEL_MAX, "characters"));
    }
    if !is_label(text) {
        wrong.push(if is_subdomain(text) { "must not contain dots" } else { LABEL_TEXT }.to_owned());
    }
    wrong
}

/// What is wrong with a DNS subdomain (RFC 1123).
pub(super) fn dns_subdomain(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > SUBDOMAIN_MAX {
        wrong.push(too_long(SUBDOMAIN_MAX, "characters"));
    }
    if !is_subdomain(text) {
        wrong.push(SUBDOMAIN_TEXT.to_owned());
    }
    wrong
}

/// What is wrong with a label key, or any other qualified name.
pub(super) fn label_key(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut parts = text.split('/');
    let (first, second, third) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    if third.is_some() {
        let optional = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
        return vec![format!("a valid label key {KEY_TEXT}{optional}")];
    }
    if second.is_some() {
        if first.is_empty() {
            wrong.push("prefix part must be non-empty".to_owned());
        } else {
            wrong.extend(dns_subdomain(first).into_iter().map(|text| format!("prefix part {text}")));
        }
    }
    let name = second.unwrap_or(first);
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if name.len() > LABEL_MAX {
        wrong.push(format!("name part {}", too_long(LABEL_MAX, "bytes")));
    }
    if !is_key(name) {
        wrong.push(format!("name part {KEY_TEXT}"));
    }
    wrong
}

/// What is wrong with the value of a label.
pub(super) fn label_value(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > LABEL_MAX {
        wrong.push(too_long(LABEL_MAX, "bytes"));
    }
    if !text.is_empty() && !is_key(text) {
        wrong.push(VALUE_TEXT.to_owned());
    }
    wrong
}

/// What is wrong with a C identifier.
pub(super) fn c_identifier(text: &str) -> Option<&'static str> {
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let begins = text.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    (!begins || !text.as_bytes().iter().all(inner)).then_some(IDENTIFIER_TEXT)
}

/// What is wrong with the name of a port.
pub(super) fn port_name(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 15 {
        wrong.push(too_long(15, "characters"));
    }
    if !text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
        wrong.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        wrong.push("must contain at least one letter (a-z)".to_owned());
    }
    if text.contains("--") {
        wrong.push("must not contain consecutive hyphens".to_owned());
    }
    if text.starts_with('-') || text.ends_with('-') {
        wrong.push("must not begin or end with a hyphen".to_owned());
    }
    wrong
}

/// Whether a text is a semantic version 2.0.0, as upstream's regular expression has it.
pub(super) fn is_semver(text: &str) -> bool {
    let (rest, build) = match text.split_once('+') {
        Some((rest, build)) => (rest, Some(build)),
        None => (text, None),
    };
    let (core, pre) = match rest.split_once('-') {
        Some((core, pre)) => (core, Some(pre)),
        None => (rest, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let number = |part: &str| digits(part) && (part == "0" || !part.starts_with('0'));
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    core.split('.').count() == 3
        && core.split('.').all(number)
        && pre.is_none_or(|pre| pre.split('.').all(|part| plain(part) && (!digits(part) || number(part))))
        && build.is_none_or(|build| build.split('.').all(plain))
}

/// What is wrong with the name of an extended resource.
pub(super) fn extended_resource(name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if !name.contains('/') {
        wrong.push("a name must be a domain-prefixed path, such as 'example.com/my-prop'".to_owned());
    } else if name.contains("kubernetes.io/") {
        wrong.push("must not have \"kubernetes.io/\" domain".to_owned());
    }
    if name.starts_with("requests.") {
        wrong.push("must not have \"requests.\" prefix".to_owned());
    }
    wrong.extend(label_key(&format!("requests.{name}")));
    wrong
}

/// Whether a name is that of an extended resource (`k8s.io/kubernetes/pkg/apis/core/helper`).
pub(super) fn is_extended_resource(name: &str) -> bool {
    !is_native_resource(name)
        && !name.starts_with("requests.")
        && label_key(&format!("requests.{name}")).is_empty()
}

/// Whether a resource is one of Kubernetes' own.
pub(super) fn is_native_resource(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Whether more of a resource may be promised than there is.
pub(super) fn is_overcommitted(name: &str) -> bool {
    is_native_resource(name) && !name.starts_with("hugepages-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_held_to_their_form() {
        assert!(dns_label("gpu-0").is_empty());
        assert_eq!(dns_label("a.b"), ["must not contain dots"]);
        assert!(dns_label("GPU")[0].starts_with("a lowercase RFC 1123 label must consist of"));
        assert_eq!(dns_label(&"a".repeat(64)), ["must be no more than 63 characters"]);
        assert!(dns_subdomain("gpu.example.com").is_empty());
        assert!(!dns_subdomain("gpu..com").is_empty());
        assert!(label_key("example.com/My_Name.x").is_empty());
        assert_eq!(label_key("a/b/c").len(), 1);
        assert_eq!(label_key("/x"), ["prefix part must be non-empty"]);
        assert!(label_value("").is_empty());
        assert!(!label_value("-x").is_empty());
        assert_eq!(c_identifier("memory_2"), None);
        assert!(c_identifier("2x").is_some() && c_identifier("").is_some());
        assert!(port_name("http").is_empty());
    }

    #[test]
    fn semantic_versions_are_those_of_semver_org() {
        for good in ["1.2.3", "0.0.0", "1.2.3-alpha.1+build.5", "1.0.0--", "1.0.0+a-b"] {
            assert!(is_semver(good), "{good}");
        }
        for bad in ["1.2", "01.2.3", "1.2.3-01", "1.2.3-", "1.2.3+", "v1.2.3", "1.2.3-a..b", ""] {
            assert!(!is_semver(bad), "{bad}");
        }
    }

    #[test]
    fn extended_resources_have_a_foreign_domain() {
        assert!(is_extended_resource("example.com/gpu"));
        for other in ["cpu", "gpu", "kubernetes.io/x", "node.kubernetes.io/x", "requests.example.com/gpu"] {
            assert!(!is_extended_resource(other), "{other}");
        }
    }
}
