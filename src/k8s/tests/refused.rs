//! Objects that an API server refuses, with its own words.

use super::cases::read_text;

const FILES: [(&str, &str); 4] = [
    ("claims", include_str!("refused/claims.yaml")),
    ("slices", include_str!("refused/slices.yaml")),
    ("pods", include_str!("refused/pods.yaml")),
    ("others", include_str!("refused/others.yaml")),
];

#[test]
fn objects_are_refused_as_kube_apiserver_refuses_them() {
    for (file, text) in FILES {
        let mut count = 0;
        for document in text.split("\n---\n").skip(1) {
            let said =
                document.lines().filter_map(|line| line.strip_prefix("#= ").or(line.strip_prefix("#~ ")));
            let mut expected: Vec<_> = said.filter(|line| *line != "nothing").collect();
            expected.sort_unstable();
            let objects = read_text(document);
            let mut found: Vec<_> = objects.invalid.iter().map(|finding| finding.message.as_str()).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, expected, "{file}: {document}");
            count += 1;
        }
        assert!(count > 30, "{file} has {count} objects");
    }
}

#[test]
fn every_finding_names_a_field_and_a_line_of_its_object() {
    for (_, text) in FILES {
        for document in text.split("\n---\n").skip(1) {
            let lines = u32::try_from(document.lines().count()).unwrap();
            for finding in read_text(document).invalid {
                assert!(!finding.field.is_empty(), "{finding:?}");
                assert!((1..=lines).contains(&finding.line), "{finding:?}");
                assert!(finding.message.contains(&finding.field), "{finding:?}");
            }
        }
    }
}
