//! Parses an expression into an [`Ast`] and expands macros on the way, as cel-go's parser does.
//!
//! Nesting is limited as upstream limits it (250 of a kind), which also bounds the recursion here.

mod literals;

use std::sync::Arc;

use super::ast::{Ast, Expr, ExprId, Literal};
use super::error::Issue;
use super::lexer::{Kind, Lexer, Token};
use super::macros;

/// How deep expressions may nest.
const NESTING_MAX: usize = 250;

const RESERVED: [&str; 16] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
];

/// Operators by how tightly they bind, and cel-go's names for their functions.
const BINARY: [(&str, u8, &str); 14] = [
    ("||", 1, "_||_"),
    ("&&", 2, "_&&_"),
    ("<", 3, "_<_"),
    ("<=", 3, "_<=_"),
    (">", 3, "_>_"),
    (">=", 3, "_>=_"),
    ("==", 3, "_==_"),
    ("!=", 3, "_!=_"),
    ("in", 3, "@in"),
    ("+", 4, "_+_"),
    ("-", 4, "_-_"),
    ("*", 5, "_*_"),
    ("/", 5, "_/_"),
    ("%", 5, "_%_"),
];

/// The parser has said why it cannot go on.
struct Abort;

/// A finding at a byte offset of the source.
#[derive(Clone)]
pub(super) struct Finding {
    pub(super) offset: Option<usize>,
    pub(super) message: String,
}

/// The tree and its root.
///
/// # Errors
/// What is wrong with the text, by place.
pub(super) fn parse(source: &str) -> Result<(Ast, ExprId), Vec<Finding>> {
    let mut parser = Parser::new(source);
    let root = parser.whole();
    match root {
        Ok(root) if parser.findings.is_empty() => Ok((parser.ast, root)),
        _ => Err(parser.findings),
    }
}

/// Findings with line and column instead of offsets, by place.
pub(super) fn issues(source: &str, mut findings: Vec<Finding>) -> Box<[Issue]> {
    findings.sort_by_key(|finding| finding.offset.map_or(0, |offset| offset + 1));
    let issue = |finding: Finding| {
        let (line, column) = finding.offset.map_or((0, 0), |offset| place(source, offset));
        Issue { line, column, message: finding.message }
    };
    findings.into_iter().map(issue).collect()
}

/// Line and column of a byte offset, both from 1.
pub(super) fn place(source: &str, offset: usize) -> (u32, u32) {
    let before = source.get(..offset).unwrap_or(source);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

/// Makes the tree; macros add to it, too.
pub(super) struct Parser<'s> {
    source: &'s str,
    lexer: Lexer<'s>,
    token: Token,
    previous_end: usize,
    pub(super) ast: Ast,
    findings: Vec<Finding>,
    expressions: usize,
    relations: usize,
    calculations: usize,
    members: usize,
}

impl<'s> Parser<'s> {
    fn new(source: &'s str) -> Self {
        let mut lexer = Lexer::new(source);
        let token = lexer.next();
        Self {
            source,
            lexer,
            token,
            previous_end: 0,
            ast: Ast::default(),
            findings: Vec::new(),
            expressions: 0,
            relations: 0,
            calculations: 0,
            members: 0,
        }
    }

    fn whole(&mut self) -> Result<ExprId, Abort> {
        let root = self.expression()?;
        if self.token.kind != Kind::End {
            return self.syntax(&format!("extraneous input '{}' expecting <EOF>", self.text(self.token)));
        }
        Ok(root)
    }

    fn text(&self, token: Token) -> &'s str {
        &self.source[token.start..token.end]
    }

    fn advance(&mut self) -> Token {
        let token = self.token;
        self.previous_end = token.end;
        self.token = self.lexer.next();
        token
    }

    fn is(&self, symbol: &str) -> bool {
        self.token.kind == Kind::Symbol(symbol_of(symbol))
    }

    fn accept(&mut self, symbol: &str) -> Option<Token> {
        self.is(symbol).then(|| self.advance())
    }

    /// Says what is wrong, and goes on.
    pub(super) fn report(&mut self, offset: usize, message: impl Into<String>) {
        self.findings.push(Finding { offset: Some(offset), message: message.into() });
    }

    fn syntax<T>(&mut self, message: &str) -> Result<T, Abort> {
        self.report(self.token.start, format!("Syntax error: {message}"));
        Err(Abort)
    }

    fn unexpected<T>(&mut self, expected: &str) -> Result<T, Abort> {
        let token = self.token;
        let input = if token.kind == Kind::End { "<EOF>" } else { self.text(token) };
        match token.kind {
            Kind::Unknown => {
                let rest = self.source[token.start..].lines().next().unwrap_or("").to_owned();
                self.syntax(&format!("token recognition error at: '{rest}'"))
            }
            _ => self.syntax(&format!("mismatched input '{input}' expecting {expected}")),
        }
    }

    fn expect(&mut self, symbol: &str) -> Result<Token, Abort> {
        match self.accept(symbol) {
            Some(token) => Ok(token),
            None => self.unexpected(&format!("'{symbol}'")),
        }
    }

    fn too_deep<T>(&mut self, message: &str) -> Result<T, Abort> {
        self.findings.clear();
        self.findings.push(Finding { offset: None, message: message.to_owned() });
        Err(Abort)
    }

    fn expression(&mut self) -> Result<ExprId, Abort> {
        self.expressions += 1;
        if self.expressions > NESTING_MAX {
            return self.too_deep("expression recursion limit exceeded: 250");
        }
        let condition = self.binary(1)?;
        let expr = if let Some(question) = self.accept("?") {
            let truthy = self.binary(1)?;
            self.expect(":")?;
            let falsy = self.expression()?;
            self.call("_?_:_", None, vec![condition, truthy, falsy], question.start)
        } else {
            condition
        };
        self.expressions -= 1;
        Ok(expr)
    }

    fn operator(&self) -> Option<(u8, &'static str)> {
        let Kind::Symbol(symbol) = self.token.kind else { return None };
        BINARY.iter().find(|(text, ..)| *text == symbol).map(|(_, strength, function)| (*strength, *function))
    }

    /// Operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Result<ExprId, Abort> {
        let mut left = self.unary()?;
        let (relations, calculations) = (self.relations, self.calculations);
        while let Some((strength, function)) = self.operator().filter(|(strength, _)| *strength >= least) {
            let operator = self.token;
            if strength <= 2 {
                left = self.logical(left, strength, function)?;
                continue;
            }
            match strength {
                3 => self.relations += 1,
                _ => self.calculations += 1,
            }
            if self.relations > NESTING_MAX || self.calculations >= NESTING_MAX {
                return self.too_deep("max recursion depth exceeded");
            }
            self.advance();
            let right = self.binary(strength + 1)?;
            left = self.call(function, None, vec![left, right], operator.start);
        }
        (self.relations, self.calculations) = (relations, calculations);
        Ok(left)
    }

    /// A chain of `&&` or of `||` is one call, however long. It stands where the middle operator
    /// does, which is the root of the balanced tree that upstream makes.
    fn logical(&mut self, first: ExprId, strength: u8, function: &'static str) -> Result<ExprId, Abort> {
        let mut terms = vec![first];
        let mut operators = Vec::new();
        while self.operator() == Some((strength, function)) {
            operators.push(self.advance().start);
            terms.push(self.binary(strength + 1)?);
        }
        Ok(self.call(function, None, terms, operators[operators.len() / 2]))
    }

    fn unary(&mut self) -> Result<ExprId, Abort> {
        let first = self.token;
        for (symbol, function) in [("!", "!_"), ("-", "-_")] {
            let mut count = 0_usize;
            while self.is(symbol) && !(symbol == "-" && count == 0 && self.negative_literal()) {
                self.advance();
                count += 1;
            }
            if count > 0 {
                let operand = self.member()?;
                let odd = count % 2 == 1;
                return Ok(if odd { self.call(function, None, vec![operand], first.start) } else { operand });
            }
        }
        self.member()
    }

    /// Whether the minus sign that comes next belongs to a number.
    fn negative_literal(&self) -> bool {
        let rest = self.source[self.token.end..].trim_start();
        let digits = rest.strip_prefix('.').unwrap_or(rest);
        digits.starts_with(|c: char| c.is_ascii_digit()) && {
            let mut ahead = Lexer::new(rest);
            matches!(ahead.next().kind, Kind::Int | Kind::Double)
        }
    }

    fn member(&mut self) -> Result<ExprId, Abort> {
        let mut operand = self.primary()?;
        let members = self.members;
        while self.is(".") || self.is("[") {
            self.members += 1;
            if self.members >= NESTING_MAX {
                return self.too_deep("max recursion depth exceeded");
            }
            let start = self.advance();
            operand = if self.text(start) == "." {
                self.field(operand, start)?
            } else {
                let function = if self.accept("?").is_some() { "_[?_]" } else { "_[_]" };
                let index = self.expression()?;
                self.expect("]")?;
                self.call(function, None, vec![operand, index], start.start)
            };
        }
        self.members = members;
        Ok(operand)
    }

    fn field(&mut self, operand: ExprId, dot: Token) -> Result<ExprId, Abort> {
        let optional = self.accept("?").is_some();
        let name = self.token;
        let text = match name.kind {
            Kind::Ident => self.text(name),
            Kind::Quoted => self.text(name).trim_matches('`'),
            _ => {
                let input = format!(".{}", self.text(name));
                self.report(dot.start, format!("Syntax error: no viable alternative at input '{input}'"));
                return Err(Abort);
            }
        };
        self.advance();
        if optional {
            let field = self.ast.add(Expr::Literal(Literal::String(Arc::from(text))), name.start);
            return Ok(self.call("_?._", None, vec![operand, field], dot.start));
        }
        if name.kind == Kind::Ident
            && let Some(open) = self.accept("(")
        {
            let args = self.list(")")?;
            return Ok(self.call_or_macro(text, Some(operand), args, open.start));
        }
        Ok(self.ast.add(Expr::Select { operand, field: Arc::from(text), test: false }, dot.start))
    }

    /// Expressions up to a closing bracket.
    fn list(&mut self, close: &str) -> Result<Vec<ExprId>, Abort> {
        let mut items = Vec::new();
        if self.accept(close).is_some() {
            return Ok(items);
        }
        loop {
            items.push(self.expression()?);
            if self.accept(",").is_none() {
                self.expect(close)?;
                return Ok(items);
            }
        }
    }

    fn primary(&mut self) -> Result<ExprId, Abort> {
        let token = self.token;
        match token.kind {
            Kind::Symbol("(") => {
                self.advance();
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Kind::Symbol("[") => self.list_literal(),
            Kind::Symbol("{") => self.map_literal(),
            Kind::Symbol(".") | Kind::Ident => self.identifier(),
            Kind::Symbol("-") => {
                self.advance();
                Ok(self.number(token.start, true))
            }
            Kind::Int | Kind::Uint | Kind::Double => Ok(self.number(token.start, false)),
            Kind::String | Kind::Bytes | Kind::True | Kind::False | Kind::Null => {
                self.advance();
                let literal = self.literal(token);
                Ok(self.ast.add(Expr::Literal(literal), token.start))
            }
            _ => self.unexpected(
                "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, \
                 BYTES, IDENTIFIER}",
            ),
        }
    }

    fn identifier(&mut self) -> Result<ExprId, Abort> {
        let start = self.token.start;
        let dot = if self.accept(".").is_some() { "." } else { "" };
        if self.token.kind != Kind::Ident {
            return self.unexpected("IDENTIFIER");
        }
        let token = self.advance();
        let name = self.text(token);
        if RESERVED.contains(&name) || name == "while" {
            self.report(start, format!("reserved identifier: {name}"));
        }
        let name = format!("{dot}{name}");
        if let Some(open) = self.accept("(") {
            let args = self.list(")")?;
            return Ok(self.call_or_macro(&name, None, args, open.start));
        }
        if self.starts_struct() {
            return self.struct_literal(name);
        }
        Ok(self.ast.add(Expr::Ident(Arc::from(name)), token.start))
    }

    /// Adds a call.
    pub(super) fn call(
        &mut self,
        function: &str,
        target: Option<ExprId>,
        args: Vec<ExprId>,
        offset: usize,
    ) -> ExprId {
        let call = Expr::Call { function: Arc::from(function), target, args: args.into() };
        self.ast.add(call, offset)
    }

    fn call_or_macro(
        &mut self,
        name: &str,
        target: Option<ExprId>,
        args: Vec<ExprId>,
        offset: usize,
    ) -> ExprId {
        macros::expand(self, name, target, &args, offset)
            .unwrap_or_else(|| self.call(name, target, args, offset))
    }
}

/// The lexer's own text of a symbol, which has the lifetime that its tokens need.
fn symbol_of(symbol: &str) -> &'static str {
    const ALL: [&str; 25] = [
        "(", ")", "[", "]", "{", "}", ".", ",", "?", ":", "-", "!", "==", "!=", "<=", ">=", "&&", "||", "+",
        "*", "/", "%", "<", ">", "in",
    ];
    ALL.iter().find(|known| **known == symbol).copied().unwrap_or("")
}
