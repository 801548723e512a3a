//! Inputs made to exhaust memory, time or the stack: each is refused or evaluated, on a thread with
//! the stack that the standard library and tokio give theirs.
#![allow(clippy::format_push_string, clippy::format_collect, reason = "the clearest way to spell them")]

use crate::cel::{DeviceInput, EXPRESSION_MAX, Environment, EvalError, compile};
use crate::model::{DeviceContent, Features};

/// What becomes of an expression: the compile error's text, or the result with its cost.
fn outcome(expression: &str) -> String {
    let env = Environment::new(&Features::default());
    let content = DeviceContent::default();
    let device = DeviceInput { driver: "dra.example.com", content: &content };
    match compile(expression, &env) {
        Err(error) => error.to_string(),
        Ok(program) => match program.matches(&device) {
            Ok(matches) => matches.to_string(),
            Err(error) => error.to_string(),
        },
    }
}

/// The outcome on a thread of 2 MiB.
#[allow(clippy::disallowed_methods, reason = "a small stack is what is tested")]
fn on_a_small_stack(expression: impl Into<String>) -> String {
    let expression = expression.into();
    let run = move || outcome(&expression);
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap()
}

/// `unit` as often as 10 KiB allow between `before` and `after`.
fn filled(before: &str, unit: &str, after: &str) -> String {
    let room = EXPRESSION_MAX - before.len() - after.len();
    format!("{before}{}{after}", unit.repeat(room / unit.len()))
}

#[test]
fn ten_kibibytes_of_any_nesting_are_refused_or_evaluated() {
    let nested = |open: &str, inner: &str, close: &str| {
        let depth = (EXPRESSION_MAX - inner.len()) / (open.len() + close.len());
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    // Upstream's two texts; which of them comes depends on its generated parser.
    let (refused, too_deep) = ("recursion", "recursion");
    for (expression, wanted) in [
        (filled("1", "+1", " == 2"), refused),
        (filled("1", "*1", " == 2"), refused),
        (filled("true", "==true", ""), refused),
        (filled("device", ".a", ""), refused),
        (filled("device", "[0]", ""), refused),
        (filled("device", ".?a", ""), refused),
        (filled("'a'", ".trim()", " == 'a'"), refused),
        (filled("[1]", ".map(x,[x])", " == []"), refused),
        (filled("optional.of(1)", ".optMap(x,x)", ".hasValue()"), refused),
        (filled("", "true?true:", "true"), too_deep),
        (filled("", "true?", "true"), "expecting ':'"),
        (nested("(", "true", ")"), too_deep),
        (nested("[", "1", "]"), too_deep),
        (nested("{1:", "1", "}"), too_deep),
        (nested("!(", "true", ")"), too_deep),
        (nested("size([", "1", "])"), too_deep),
        (nested("[1].all(x,", "true", ")"), too_deep),
        (nested("cel.bind(x,[1],", "true", ")"), too_deep),
        (nested("cel.bind(x,", "1", ",true)"), refused),
        (nested("device[", "1", "]"), too_deep),
        (nested("optional.of(", "1", ")"), too_deep),
        (filled("", "(", ""), too_deep),
        (filled("", "[", ""), too_deep),
        (filled("", "{", ""), too_deep),
        (filled("", "[1].all(x,", ""), too_deep),
        (filled("", "1+", ""), refused),
        (filled("", "!", "true"), "true"),
        (filled("", "!", ""), "expecting"),
        (filled("", "-", "1 == 1"), "true"),
        (filled("true", "&&true", ""), "true"),
        (filled("false", "||false", ""), "false"),
        (filled("[1", ",1", "].size() > 5000"), "true"),
        (filled("1 in [2", ",1", "]"), "true"),
        (filled("{1:1", ",1:1", "}.size() == 1"), "true"),
        (filled("'", "a", "'.size() > 10000"), "true"),
    ] {
        let found = on_a_small_stack(expression.as_str());
        assert!(found.contains(wanted), "{}…\n  wanted {wanted}\n  found  {found:.300}", &expression[..40]);
    }
}

#[test]
fn the_deepest_mixture_that_the_limits_allow_fits_the_stack() {
    for unit in ["(1<1||1<1&&1==1+1*-", "[1].all(x,true||true&&[1].exists(y,", "true?true:(1==1+1*-size(["] {
        let close = unit.chars().rev().filter_map(|c| match c {
            '(' => Some(')'),
            '[' => Some(']'),
            _ => None,
        });
        let close: String = match unit.matches(']').count() {
            0 => close.collect(),
            _ => "))".to_owned(),
        };
        let depth = 240 / unit.matches(['(', '[']).count().max(1);
        let expression = format!("{}1{}", unit.repeat(depth), close.repeat(depth));
        // Whatever is said of it, it is said.
        assert!(!on_a_small_stack(expression).is_empty());
    }
}

#[test]
fn an_expression_longer_than_the_api_allows_is_refused() {
    let found = on_a_small_stack(format!("'{}' == ''", "a".repeat(EXPRESSION_MAX)));
    assert_eq!(found, "expression of 10248 bytes is too long, may not be more than 10240 bytes");
}

#[test]
fn what_costs_too_much_ends_at_the_limit() {
    let limit = EvalError::CostLimit.to_string();
    let ten = "[0,1,2,3,4,5,6,7,8,9]";
    let nested: String = "abcdefg".chars().map(|variable| format!("{ten}.all({variable},")).collect();
    let bind = |init: &str, step: &str, count: usize, result: &str| {
        let names: Vec<_> = (0..=count).map(|at| format!("v{at}")).collect();
        let mut expression = format!("cel.bind({},{init},", names[0]);
        for pair in names.windows(2) {
            expression += &format!("cel.bind({},{},", pair[1], step.replace('$', &pair[0]));
        }
        expression + &result.replace('$', &names[count]) + &")".repeat(count + 1)
    };
    for expression in [
        format!("{nested}true{}", ")".repeat(7)),
        "lists.range(1000000000).size() == 0".to_owned(),
        "lists.range(9223372036854775807).size() == 0".to_owned(),
        "lists.range(1000).distinct().size() == 0".to_owned(),
        "lists.range(1000).map(x, lists.range(1000)).size() == 0".to_owned(),
        bind("[1,1]", "$+$", 60, "$.size() == 0"),
        bind("'aa'", "$+$", 60, "$.size() == 0"),
        bind("'aaaaaaaaaa'", "$.replace('a', $)", 20, "$.size() == 0"),
        bind("['aaaaaaaaaa','a']", "[$.join($[0]),'a']", 60, "$.size() == 0"),
        bind("[[1,1]]", "$.map(x,x+x)", 60, "$.size() == 0"),
        "lists.range(100000).all(x, 'a'.matches('(a{10}){' + string(x) + '}') || true)".to_owned(),
        "'%.999999999f'.format([1.0]) == ''".to_owned(),
    ] {
        let found = on_a_small_stack(expression.as_str());
        assert!(found == limit || found.contains("exceeds maximum allowed"), "{expression:.60}…: {found}");
    }
}

#[test]
fn expressions_that_would_double_at_each_step_are_refused() {
    let types = |count: usize| {
        let mut expression = "cel.bind(v0,{1:1},".to_owned();
        for at in 0..count {
            expression += &format!("cel.bind(v{},[{{'a':v{at}}},{{'b':v{at}}}],", at + 1);
        }
        format!("{expression}v{count} == v{count}{}", ")".repeat(count + 1))
    };
    let limit = EvalError::CostLimit.to_string();
    assert_eq!(on_a_small_stack(types(40)), limit);
    assert_eq!(on_a_small_stack(types(40).replace("v40 == v40", "dyn(v40).indexOf(1) == 0")), limit);
    assert_eq!(on_a_small_stack(types(40).replace("v40 == v40", "'%s'.format([v40]) == ''")), limit);
    let deep = (0..60).fold(String::new(), |text, at| {
        let inner = if at == 0 { "1".to_owned() } else { format!("v{}", at - 1) };
        text + &format!("cel.bind(v{at},dyn({}{inner}{}),", "[".repeat(50), "]".repeat(50))
    });
    assert_eq!(on_a_small_stack(format!("{deep}v59 == v59{}", ")".repeat(60))), limit);
    let maps = (0..60).fold("cel.bind(v0,1,".to_owned(), |text, at| {
        text + &format!("cel.bind(v{},{{v{at}:v{at}}},", at + 1)
    });
    let refused = on_a_small_stack(format!("{maps}true{}", ")".repeat(61)));
    assert_eq!(refused, "expression is too complex to be type-checked");
    let chained = format!("optional.of(1){}.hasValue()", ".optMap(x,x+1)".repeat(100));
    assert_eq!(on_a_small_stack(chained), limit);
}

#[test]
fn patterns_made_to_explode_are_refused_or_linear() {
    for (expression, wanted) in [
        ("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'.matches('^(a+)+$')", "false"),
        ("'a'.matches('((a{100}){100}){100}')", "invalid matches argument"),
        ("'a'.matches('(\\\\pL{10}){10}')", "false"),
    ] {
        let found = on_a_small_stack(expression);
        assert!(found.contains(wanted), "{expression}: {found}");
    }
    let deep = format!("'a'.matches('{}a{}')", "(".repeat(2000), ")".repeat(2000));
    assert!(on_a_small_stack(deep).contains("invalid matches argument"));
}
