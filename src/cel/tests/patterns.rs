//! Patterns of which Go's `regexp` was asked whether it accepts and matches them.

use crate::cel::{DeviceInput, Environment, compile};
use crate::model::{DeviceContent, Features};

/// Whether a pattern matches a text, if Go accepts it.
fn matches(pattern: &str, text: &str) -> Option<bool> {
    let env = Environment::new(&Features::default());
    let expression = format!("'{text}'.matches(r'{pattern}')");
    let content = DeviceContent::default();
    compile(&expression, &env).ok()?.matches(&DeviceInput { driver: "", content: &content }).ok()
}

#[test]
fn the_name_of_a_class_ends_where_go_ends_it() {
    for (pattern, accepted) in [
        ("[[:]", &["[", ":"][..]),
        ("[[:]a]", &["[a]", ":a]"]),
        ("^[[:]<=]+$", &["[<=]"]),
        ("[a[:]b]", &["ab]", "[b]", ":b]"]),
        ("[[:]-z]", &[":-z]"]),
        ("[[:alpha:]]", &["a"]),
        ("[[:^alpha:]]", &["[", ":", "1"]),
    ] {
        for text in accepted {
            assert_eq!(matches(pattern, text), Some(true), "{pattern} on {text}");
        }
        assert_eq!(matches(pattern, ""), Some(false), "{pattern}");
    }
    for pattern in ["[[::]]", "[[:^^alpha:]]", "[[:^:]]", "[[:alph:]]", "[[:]b:]", "[[:alpha:]"] {
        assert_eq!(matches(pattern, ""), None, "{pattern}");
    }
}
