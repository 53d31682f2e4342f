//! Targets: product × form × generation, as `spec/products.csv` lists them.

use std::fmt;

use crate::spec::{Product, Spec};

/// What a child process runs on.
#[derive(Clone, Debug)]
pub struct Target {
    /// Row of `spec/products.csv`.
    pub product: Product,
    /// `ep` or `rc`.
    pub form: String,
    /// CANN generation: 9, 8 or 5.
    pub generation: u8,
}

impl Target {
    /// Every possible target, in the table's order, the newest generation of a product first.
    pub fn all(spec: &Spec) -> Vec<Target> {
        let mut all = Vec::new();
        for product in &spec.products {
            for generation in product.list("generations") {
                for form in product.list("forms") {
                    let generation = generation.parse().unwrap_or_default();
                    all.push(Target { product: product.clone(), form: form.to_owned(), generation });
                }
            }
        }
        all
    }

    /// Whether the generation is the product's newest.
    pub fn newest(&self) -> bool {
        self.product.list("generations").all(|other| other.parse().unwrap_or(0) <= self.generation)
    }

    /// Whether host and device are one.
    pub fn rc(&self) -> bool {
        self.form == "rc"
    }

    /// As options name it: `a2-ep-9`.
    pub fn key(&self) -> String {
        format!("{}-{}-{}", self.product.key, self.form, self.generation)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.product.key, self.form, self.generation)
    }
}
