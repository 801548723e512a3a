//! What identifiers, fields and calls stand for.

use std::sync::Arc;

use super::{Checker, Reference};
use crate::cel::ast::{Expr, ExprId, Literal};
use crate::cel::functions::{Declaration, Function};
use crate::cel::types::{CIDR, DEVICE, IP, QUANTITY, Type};

/// The types that have names of several parts. Upstream knows the rest of protobuf's too, but cannot
/// use them as values.
const QUALIFIED: [Type; 19] = [
    Type::Duration,
    Type::Timestamp,
    IP,
    CIDR,
    DEVICE,
    Type::Any,
    Type::Object("google.protobuf.BoolValue"),
    Type::Object("google.protobuf.BytesValue"),
    Type::Object("google.protobuf.DoubleValue"),
    Type::Object("google.protobuf.FloatValue"),
    Type::Object("google.protobuf.Int32Value"),
    Type::Object("google.protobuf.Int64Value"),
    Type::Object("google.protobuf.StringValue"),
    Type::Object("google.protobuf.UInt32Value"),
    Type::Object("google.protobuf.UInt64Value"),
    Type::Object("google.protobuf.ListValue"),
    Type::Object("google.protobuf.Struct"),
    Type::Object("google.protobuf.Value"),
    Type::Object("google.protobuf.Empty"),
];

impl Checker<'_> {
    pub(super) fn ident(&mut self, id: ExprId, name: &str) -> Type {
        let local = self.scope.iter().rev().find(|(known, ..)| **known == *name && !name.starts_with('.'));
        if let Some((_, ty, local)) = local {
            self.references[id.index()] = Reference::Local(*local);
            return ty.clone();
        }
        let global = name.strip_prefix('.').unwrap_or(name);
        if global == "device" {
            self.references[id.index()] = Reference::Device;
            return DEVICE;
        }
        let ty = match global {
            "bool" | "bytes" | "double" | "int" | "string" | "uint" => Type::parse(global),
            "duration" => Type::Duration,
            "timestamp" => Type::Timestamp,
            "null_type" => Type::Null,
            "list" => Type::list(Type::Dyn),
            "map" => Type::map(Type::Dyn, Type::Dyn),
            "type" => Type::Meta(Arc::new(Type::Dyn)),
            "optional_type" => Type::optional(Type::Dyn),
            _ => return self.undeclared(id, name),
        };
        self.references[id.index()] = Reference::Type(ty.clone());
        Type::Meta(Arc::new(ty))
    }

    /// Whether a chain of names is that of a type.
    pub(super) fn qualified_type(&mut self, id: ExprId) -> bool {
        let Some(name) = self.ast.qualified_name(id) else { return false };
        let first = name.split('.').next().unwrap_or("");
        if self.scope.iter().any(|(known, ..)| **known == *first) {
            return false;
        }
        let global = name.strip_prefix('.').unwrap_or(&name);
        let Some(ty) = QUALIFIED.iter().find(|ty| format!("{ty:#}") == global) else { return false };
        self.references[id.index()] = Reference::Type(ty.clone());
        true
    }

    pub(super) fn field(&mut self, id: ExprId, operand: ExprId, field: &str, optional: bool) -> Type {
        let operand = self.type_of(operand);
        let operand = self.substitution.resolve(&operand, false);
        let (target, is_optional) = operand.unwrap_optional();
        let ty = match target {
            Type::Map(entry) => entry.1.clone(),
            Type::Object(name) if *target != IP && *target != CIDR => {
                match device_field(field, &self.env.attribute) {
                    Some(ty) if *target == DEVICE => ty,
                    _ => {
                        self.report(
                            id,
                            if *target == DEVICE {
                                format!("undefined field '{field}'")
                            } else {
                                format!("unexpected failed resolution of '{name}'")
                            },
                        );
                        Type::Error
                    }
                }
            }
            Type::Variable(_) => {
                self.assignable(&Type::Dyn, target);
                Type::Dyn
            }
            Type::Dyn | Type::Any | Type::Error => Type::Dyn,
            other => {
                self.report(id, format!("type '{other}' does not support field selection"));
                Type::Dyn
            }
        };
        if is_optional || optional { Type::optional(ty) } else { ty }
    }

    pub(super) fn call(&mut self, id: ExprId, name: &str, target: Option<ExprId>, args: &[ExprId]) -> Type {
        let namespaced = target.and_then(|target| self.namespaced(target, name));
        let target = if namespaced.is_some() { None } else { target };
        let Some(declaration) = namespaced.or_else(|| self.env.function(name.trim_start_matches('.'))) else {
            return self.undeclared(id, name);
        };
        let function = declaration.function;
        let mut overloads = vec![declaration.overloads[0].id];
        let ty = match function {
            Function::And | Function::Or => self.logical(args),
            Function::OptionalSelect => match args {
                [operand, field] if let Expr::Literal(Literal::String(name)) = self.ast.expr(*field) => {
                    let ty = self.field(id, *operand, name, true);
                    self.substitution.resolve(&ty, false)
                }
                _ => Type::Error,
            },
            _ => match self.resolve(declaration, target, args) {
                Some((ty, meant)) => {
                    overloads = meant;
                    ty
                }
                None => self.no_overload(id, function, target, args),
            },
        };
        let only = if let [only] = overloads[..] { Some(only) } else { None };
        self.references[id.index()] = Reference::Call {
            function,
            overload: only,
            overloads: overloads.into(),
            namespaced: namespaced.is_some(),
        };
        ty
    }

    fn logical(&mut self, args: &[ExprId]) -> Type {
        let mut ty = Type::Bool;
        for arg in args {
            let found = self.type_of(*arg);
            if !self.assignable(&found, &Type::Bool) {
                self.mismatch(*arg, &Type::Bool, &found);
                ty = Type::Error;
            }
        }
        ty
    }

    /// The result's type, and the signatures that fit.
    fn resolve(
        &mut self,
        declaration: &Declaration,
        target: Option<ExprId>,
        args: &[ExprId],
    ) -> Option<(Type, Vec<&'static str>)> {
        let given: Vec<_> = target.iter().chain(args).map(|id| self.type_of(*id)).collect();
        let mut found: Option<Type> = None;
        let mut meant = Vec::new();
        for overload in &declaration.overloads {
            if overload.method != target.is_some() || overload.args.len() != given.len() {
                continue;
            }
            let first = self.substitution.fresh_pair();
            let wanted: Vec<_> = overload.args.iter().map(|ty| ty.instantiate(first)).collect();
            let pairs: Vec<_> = given.iter().zip(&wanted).collect();
            if !self.substitution.assignable(&pairs) {
                continue;
            }
            let result = self.substitution.resolve(&overload.result.instantiate(first), false);
            meant.push(overload.id);
            found = Some(match found {
                None => result,
                Some(before) if before.is_dyn_or_error() || before == result => before,
                Some(_) => Type::Dyn,
            });
        }
        found.map(|ty| (ty, meant))
    }

    fn no_overload(
        &mut self,
        id: ExprId,
        function: Function,
        target: Option<ExprId>,
        args: &[ExprId],
    ) -> Type {
        let mut text = |id: &ExprId| {
            let ty = self.type_of(*id);
            self.substitution.resolve(&ty, true).to_string()
        };
        let receiver = target.as_ref().map(|target| text(target) + ".").unwrap_or_default();
        let args: Vec<_> = args.iter().map(text).collect();
        let name = function.name();
        self.report(
            id,
            format!("found no matching overload for '{name}' applied to '{receiver}({})'", args.join(", ")),
        );
        Type::Error
    }
}

/// The type of a field of the device.
fn device_field(field: &str, attribute: &Type) -> Option<Type> {
    let domains = |value: Type| Type::map(Type::String, Type::map(Type::String, value));
    Some(match field {
        "driver" => Type::String,
        "allowMultipleAllocations" => Type::Bool,
        "attributes" => domains(attribute.clone()),
        "capacity" => domains(QUANTITY),
        _ => return None,
    })
}
