//! Literals: numbers, texts, lists, maps and structs.

use std::sync::Arc;

use super::{Abort, Parser};
use crate::cel::ast::{Expr, ExprId, Literal};
use crate::cel::lexer::{Kind, Lexer, Token, unescape};

impl Parser<'_> {
    pub(super) fn literal(&mut self, token: Token) -> Literal {
        match token.kind {
            Kind::True => Literal::Bool(true),
            Kind::False => Literal::Bool(false),
            Kind::Bytes => match unescape(self.text(token), true) {
                Some(bytes) => Literal::Bytes(bytes.into()),
                None => self.bad_literal(token, "unable to unescape string"),
            },
            Kind::String => match unescape(self.text(token), false).map(String::from_utf8) {
                Some(Ok(text)) => Literal::String(text.into()),
                _ => self.bad_literal(token, "invalid unicode code point"),
            },
            _ => Literal::Null,
        }
    }

    fn bad_literal(&mut self, token: Token, message: &str) -> Literal {
        self.report(token.start, message);
        Literal::Null
    }

    pub(super) fn number(&mut self, start: usize, negative: bool) -> ExprId {
        let token = self.advance();
        let sign = if negative { "-" } else { "" };
        let text = self.text(token).to_ascii_lowercase();
        let digits = text.trim_end_matches('u');
        let literal = match token.kind {
            Kind::Double => {
                let value = format!("{sign}{text}").parse::<f64>().ok().filter(|value| value.is_finite());
                value.map(Literal::Double).ok_or("invalid double literal")
            }
            Kind::Uint => match digits.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16),
                None => digits.parse(),
            }
            .map(Literal::Uint)
            .map_err(|_| "invalid uint literal"),
            _ => match digits.strip_prefix("0x") {
                Some(hex) => i64::from_str_radix(&format!("{sign}{hex}"), 16),
                None => format!("{sign}{digits}").parse(),
            }
            .map(Literal::Int)
            .map_err(|_| "invalid int literal"),
        };
        let literal = match literal {
            Ok(literal) => literal,
            Err(message) => {
                self.report(start, message);
                Literal::Null
            }
        };
        self.ast.add(Expr::Literal(literal), start)
    }

    pub(super) fn list_literal(&mut self) -> Result<ExprId, Abort> {
        let open = self.advance();
        let mut elements = Vec::new();
        // The grammar takes a lone comma, too.
        let alone = self.accept(",").is_some();
        while !self.is("]") && !alone {
            let optional = self.accept("?").is_some();
            elements.push((self.expression()?, optional));
            if self.accept(",").is_none() {
                break;
            }
        }
        if self.accept("]").is_none() {
            return self.unexpected("{']', ','}");
        }
        Ok(self.ast.add(Expr::List(elements.into()), open.start))
    }

    pub(super) fn map_literal(&mut self) -> Result<ExprId, Abort> {
        let open = self.advance();
        let mut entries = Vec::new();
        let alone = self.accept(",").is_some();
        while !self.is("}") && !alone {
            let optional = self.accept("?").is_some();
            let key = self.expression()?;
            self.expect(":")?;
            entries.push((key, self.expression()?, optional));
            if self.accept(",").is_none() {
                break;
            }
        }
        if self.accept("}").is_none() {
            return self.unexpected("{'}', ','}");
        }
        Ok(self.ast.add(Expr::Map(entries.into()), open.start))
    }

    /// Whether `.Name.Name{` follows, or `{` itself.
    pub(super) fn starts_struct(&self) -> bool {
        let mut ahead = Lexer::new(&self.source[self.token.start..]);
        let mut next = ahead.next().kind;
        while next == Kind::Symbol(".") {
            if ahead.next().kind != Kind::Ident {
                return false;
            }
            next = ahead.next().kind;
        }
        next == Kind::Symbol("{")
    }

    pub(super) fn struct_literal(&mut self, mut name: String) -> Result<ExprId, Abort> {
        while !self.is("{") {
            let token = self.advance();
            name.push_str(self.text(token));
        }
        let open = self.advance();
        while !self.is("}") {
            self.accept("?");
            if !matches!(self.token.kind, Kind::Ident | Kind::Quoted) {
                return self.unexpected("IDENTIFIER");
            }
            self.advance();
            self.expect(":")?;
            self.expression()?;
            if self.accept(",").is_none() {
                break;
            }
        }
        self.expect("}")?;
        Ok(self.ast.add(Expr::Struct(Arc::from(name)), open.start))
    }
}
