//! The list of proofs: which row of the tables is proved by what.

use std::collections::HashMap;

use crate::spec::{Rule, Spec};
use crate::target::Target;

/// What a proof's closure gives back.
pub trait Outcome {
    /// The codes that must be the one which the table demands; none when the closure has asserted everything itself.
    fn codes(self) -> Vec<i32>;
}

impl Outcome for () {
    fn codes(self) -> Vec<i32> {
        Vec::new()
    }
}

impl Outcome for i32 {
    fn codes(self) -> Vec<i32> {
        vec![self]
    }
}

impl<const N: usize> Outcome for [i32; N] {
    fn codes(self) -> Vec<i32> {
        self.to_vec()
    }
}

impl Outcome for Vec<i32> {
    fn codes(self) -> Vec<i32> {
        self
    }
}

/// What a row is proved on.
pub struct Test<'a> {
    /// The target of this process.
    pub target: &'a Target,
    /// The row.
    pub rule: &'a Rule,
    /// All tables.
    pub spec: &'a Spec,
}

impl Test<'_> {
    /// The code that the table demands.
    #[track_caller]
    pub fn code(&self) -> i32 {
        match self.rule.code() {
            Some(code) => code,
            None => panic!("the table names no code: {}", self.rule.expected),
        }
    }

    /// Whether the product has a C function, by the tables.
    pub fn supports(&self, function: &str) -> bool {
        self.spec.supports(function, &self.target.product.key)
    }

    /// A number of the product's row.
    pub fn number(&self, column: &str) -> u64 {
        self.target.product.number(column)
    }

    /// A yes or no of the product's row.
    pub fn has(&self, column: &str) -> bool {
        self.target.product.has(column)
    }
}

type Check = Box<dyn Fn(&Test<'_>) -> Vec<i32> + Send + Sync>;
type Condition = Box<dyn Fn(&Spec, &Target) -> bool + Send + Sync>;

/// How a row is dealt with.
pub enum Proof {
    /// Calls and asserts.
    Check(Check),
    /// Cannot be tested here, or states nothing that a test could decide: the reason.
    Hardware(&'static str),
    /// Cannot be brought about without another function, which is not built yet.
    Needs(&'static str),
}

/// Where a proof starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A fresh thread of the target's process that has set device 0 (and a context where a device brings none).
    Device,
    /// A fresh thread of the target's process that has set nothing.
    Bare,
    /// A process of its own in which nothing was called yet.
    Alone,
    /// A process of its own that has set device 0 (and a context where a device brings none).
    AloneDevice,
}

impl Start {
    /// Whether it needs a process of its own.
    pub fn alone(self) -> bool {
        matches!(self, Start::Alone | Start::AloneDevice)
    }

    /// Whether device 0 is set.
    pub fn device(self) -> bool {
        matches!(self, Start::Device | Start::AloneDevice)
    }
}

/// One proof.
pub struct Row {
    /// `aclrtMemcpy#05`.
    pub id: &'static str,
    /// What proves it.
    pub proof: Proof,
    /// Whether the table must hold a decision.
    pub decided: bool,
    /// Where it starts from.
    pub start: Start,
    /// Variables of its own process.
    pub env: Vec<(&'static str, &'static str)>,
    /// Narrows the targets.
    conditions: Vec<Condition>,
}

impl Row {
    /// Runs in a process of its own in which nothing was called yet.
    pub fn alone(&mut self) -> &mut Row {
        self.start = Start::Alone;
        self
    }

    /// Runs in a process of its own, with device 0 set: for settings of the process.
    pub fn alone_device(&mut self) -> &mut Row {
        self.start = Start::AloneDevice;
        self
    }

    /// Runs on a thread that has set nothing.
    pub fn bare(&mut self) -> &mut Row {
        self.start = Start::Bare;
        self
    }

    /// A variable of its environment; implies a process of its own.
    pub fn env(&mut self, name: &'static str, value: &'static str) -> &mut Row {
        self.env.push((name, value));
        self.alone()
    }

    /// Runs only on targets that the condition lets pass: for rules that say so in words.
    pub fn only(&mut self, condition: impl Fn(&Target) -> bool + Send + Sync + 'static) -> &mut Row {
        self.conditions.push(Box::new(move |_, target| condition(target)));
        self
    }

    /// Runs only on products that have another C function, too.
    pub fn having(&mut self, function: &'static str) -> &mut Row {
        self.conditions.push(Box::new(move |spec, target| spec.supports(function, &target.product.key)));
        self
    }

    /// Runs in the EP form only.
    pub fn ep(&mut self) -> &mut Row {
        self.only(|target| !target.rc())
    }

    /// Does not run on a product, though the table's words would have it.
    pub fn except(&mut self, product: &'static str, _reason: &'static str) -> &mut Row {
        self.only(move |target| target.product.key != product)
    }
}

/// The list.
#[derive(Default)]
pub struct Rows {
    /// In the order of registration.
    pub list: Vec<Row>,
}

impl Rows {
    fn add(&mut self, id: &'static str, proof: Proof, decided: bool) -> &mut Row {
        let row = Row { id, proof, decided, start: Start::Device, env: Vec::new(), conditions: Vec::new() };
        self.list.push(row);
        let last = self.list.len() - 1;
        &mut self.list[last]
    }

    /// A row that calls decide. The closure asserts, or gives back the code or codes that must be the table's.
    pub fn row<R: Outcome>(
        &mut self,
        id: &'static str,
        check: impl Fn(&Test<'_>) -> R + Send + Sync + 'static,
    ) -> &mut Row {
        self.add(id, Proof::Check(Box::new(move |test| check(test).codes())), false)
    }

    /// The same for what the documents leave open, or for a row that another one overrules: the table's column
    /// `decision` holds the code and the reason.
    pub fn decided<R: Outcome>(
        &mut self,
        id: &'static str,
        check: impl Fn(&Test<'_>) -> R + Send + Sync + 'static,
    ) -> &mut Row {
        self.add(id, Proof::Check(Box::new(move |test| check(test).codes())), true)
    }

    /// A row that nobody can bring about without another function: not built while that one is not, then missing.
    pub fn needs(&mut self, id: &'static str, function: &'static str) {
        self.add(id, Proof::Needs(function), false);
    }

    /// A row that needs real hardware, or states nothing that a test could decide.
    pub fn hardware(&mut self, id: &'static str, reason: &'static str) {
        self.add(id, Proof::Hardware(reason), false);
    }
}

/// How a row stands on one target.
pub enum Standing<'a> {
    /// The rule is about other products, forms or generations.
    Elsewhere,
    /// Runs.
    Runs(&'a Row),
    /// The product does not have the function: the gate's answer is what is to be proved.
    Refused,
    /// The function is not built yet.
    NotBuilt,
    /// Cannot be tested here: the reason.
    Hardware(&'a str),
    /// Nobody has written a proof.
    Missing,
}

/// Rules with their proofs.
pub struct Plan {
    rows: Rows,
    by_id: HashMap<&'static str, usize>,
}

impl Plan {
    /// Brings rules and proofs together; the errors are slips in the list of proofs.
    pub fn new(rows: Rows, spec: &Spec) -> (Plan, Vec<String>) {
        let mut slips = Vec::new();
        let mut by_id = HashMap::new();
        let rules: HashMap<&str, &Rule> = spec.rules.iter().map(|rule| (rule.id.as_str(), rule)).collect();
        if rules.len() != spec.rules.len() {
            slips.push("the tables give an id twice".to_owned());
        }
        for (at, row) in rows.list.iter().enumerate() {
            if by_id.insert(row.id, at).is_some() {
                slips.push(format!("{}: registered twice", row.id));
            }
            let Some(rule) = rules.get(row.id) else {
                slips.push(format!("{}: not in the tables", row.id));
                continue;
            };
            let checked = matches!(row.proof, Proof::Check(_));
            if row.decided && rule.decision.is_empty() {
                slips.push(format!("{}: decided, but the column decision is empty", row.id));
            }
            if checked && !row.decided && !rule.decision.is_empty() {
                slips.push(format!("{}: the table holds a decision, the list does not say so", row.id));
            }
            if checked && !row.decided && rule.expected == "unspecified" {
                slips.push(format!("{}: unspecified, so it needs a decision", row.id));
            }
        }
        (Plan { rows, by_id }, slips)
    }

    /// The proof of a row.
    pub fn row(&self, id: &str) -> Option<&Row> {
        self.by_id.get(id).map(|at| &self.rows.list[*at])
    }

    /// How a rule stands on a target.
    pub fn standing<'a>(&'a self, spec: &Spec, rule: &Rule, target: &Target) -> Standing<'a> {
        let right_generation = match rule.old_page() {
            Some(generation) => target.generation == generation,
            None => target.newest(),
        };
        let key = target.product.key.as_str();
        let named = spec.products_of(rule);
        if !right_generation || named.as_ref().is_some_and(|named| !named.contains(&key)) {
            return Standing::Elsewhere;
        }
        if spec.unbuilt.contains(rule.base()) {
            return Standing::NotBuilt;
        }
        if spec.functions.contains_key(rule.base()) && !spec.supports(rule.base(), key) {
            // A rule about chips in words is about those that have the function.
            return if named.is_some() { Standing::Refused } else { Standing::Elsewhere };
        }
        match self.row(&rule.id) {
            Some(row) if row.conditions.iter().any(|condition| !condition(spec, target)) => {
                Standing::Elsewhere
            }
            Some(Row { proof: Proof::Hardware(reason), .. }) => Standing::Hardware(reason),
            Some(Row { proof: Proof::Needs(function), .. }) if spec.unbuilt.contains(*function) => {
                Standing::NotBuilt
            }
            Some(Row { proof: Proof::Needs(_), .. }) => Standing::Missing,
            Some(row) => Standing::Runs(row),
            None => Standing::Missing,
        }
    }
}
