//! Loops. A list or map that a loop builds grows in place.

use super::{Charged, Generator, Task, index};
use crate::cel::ast::{ACCUMULATOR, Comprehension, Expr, ExprId, Literal};
use crate::cel::checker::Reference;
use crate::cel::functions::Function;
use crate::cel::program::Op;

impl Generator<'_> {
    pub(super) fn comprehension(&mut self, id: ExprId, loops: &Comprehension) {
        let Reference::Loop([accumulator, first, second]) = *self.reference(id) else { return };
        let (head, done, exit) = (self.label(), self.label(), self.label());
        let full = |id: ExprId| Task::Value(id, Charged::Fully);
        let store = || Task::Op(Op::Store { slot: index(accumulator) });
        let slots = [index(first), index(second)];
        let mut tasks = vec![
            full(loops.range),
            Task::Op(Op::Loop { pair: loops.variable2.is_some(), exit }),
            full(loops.init),
            store(),
            Task::Head(head),
            Task::Op(Op::Next { slots, pair: loops.variable2.is_some(), done }),
        ];
        if !matches!(self.ast.expr(loops.condition), Expr::Literal(Literal::Bool(true))) {
            tasks.extend([full(loops.condition), Task::Op(Op::While { done })]);
        }
        tasks.extend(self.loop_step(loops.step, index(accumulator)));
        tasks.extend([store(), Task::Op(Op::Jump(head)), Task::Label(done), full(loops.result)]);
        tasks.push(Task::Label(exit));
        self.then(tasks);
    }

    /// The step of a loop, which grows a list or map in place if that is what it is for.
    fn loop_step(&mut self, step: ExprId, slot: u32) -> Vec<Task> {
        let Expr::Call { args, .. } = self.ast.expr(step) else {
            return vec![Task::Value(step, Charged::Fully)];
        };
        match (self.called(step), &**args) {
            (Some(Function::Conditional), [condition, grown, same]) => {
                let Some(grow) = self.growth(*grown, slot) else {
                    return vec![Task::Value(step, Charged::Fully)];
                };
                let (otherwise, exit) = (self.label(), self.label());
                let mut tasks =
                    vec![Task::Value(*condition, Charged::Fully), Task::Op(Op::Branch { otherwise, exit })];
                tasks.extend(grow);
                tasks.extend([
                    Task::Op(Op::Jump(exit)),
                    Task::Label(otherwise),
                    Task::Value(*same, Charged::Partly),
                    Task::Label(exit),
                ]);
                tasks
            }
            _ => self.growth(step, slot).unwrap_or_else(|| vec![Task::Value(step, Charged::Fully)]),
        }
    }

    /// `accumulator + [element]` or `cel.@mapInsert(accumulator, ..)`.
    fn growth(&self, step: ExprId, slot: u32) -> Option<Vec<Task>> {
        let Expr::Call { args, .. } = self.ast.expr(step) else { return None };
        let (first, rest) = args.split_first()?;
        if !matches!(self.ast.expr(*first), Expr::Ident(name) if &**name == ACCUMULATOR) {
            return None;
        }
        let full = |id: &ExprId| Task::Value(*id, Charged::Fully);
        let accumulator = Task::Op(Op::Charge(1));
        match (self.called(step)?, rest) {
            (Function::Add, [list]) => match self.ast.expr(*list) {
                Expr::List(elements) if elements.len() == 1 => {
                    Some(vec![accumulator, full(&elements[0].0), Task::Append(slot)])
                }
                _ => None,
            },
            (Function::MapInsert, _) => {
                let mut tasks = vec![accumulator];
                tasks.extend(rest.iter().map(full));
                tasks.push(Task::Op(Op::Insert { slot, pair: rest.len() == 2 }));
                Some(tasks)
            }
            _ => None,
        }
    }
}
