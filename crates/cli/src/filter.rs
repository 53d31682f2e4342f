//! Which targets the lists are about.

use toprope_runtime::generated::products::{PRODUCTS, Product};
use toprope_runtime::profile::{Profile, Request};

use crate::Refused;

/// Options of the lists.
#[derive(clap::Args)]
pub struct Filter {
    /// Only this product
    #[arg(long)]
    product: Option<String>,
    /// Only products that have this form: ep or rc
    #[arg(long)]
    form: Option<String>,
    /// Only products that exist in this CANN generation: 9, 8 or 5
    #[arg(long)]
    cann: Option<String>,
}

/// The targets that were asked for.
pub struct Targets {
    /// Bit i: the i-th product.
    pub bits: u16,
    /// None: all of them.
    pub generation: Option<u8>,
    /// Whether anything was left out.
    pub filtered: bool,
}

impl Targets {
    /// The products, in the table's order, with their places.
    pub fn products(&self) -> impl Iterator<Item = (usize, &'static Product)> {
        PRODUCTS.iter().enumerate().filter(|(at, _)| self.bits >> at & 1 == 1)
    }
}

impl Filter {
    /// What is left; the error lists what is valid.
    pub fn targets(&self) -> Result<Targets, Refused> {
        self.of(self.product.as_deref())
    }

    /// The same, with a product that was named otherwise.
    pub fn of(&self, product: Option<&str>) -> Result<Targets, Refused> {
        let valid = |p: &Product, generation| {
            let request = Request {
                product: Some(p.key.to_owned()),
                form: self.form.clone().or_else(|| p.rc.then_some("rc").filter(|_| !p.ep).map(String::from)),
                cann: generation,
                ..Request::default()
            };
            Profile::resolve(&request)
        };
        if let Some(key) = product {
            // A wrong name gets the profile's own words, as does a combination that does not exist.
            let request = Request { product: Some(key.to_owned()), ..Request::default() };
            let found = Profile::resolve(&request).map_err(Refused)?.product;
            valid(found, self.cann.clone()).map_err(Refused)?;
        }
        let generation = match self.cann.as_deref() {
            None => None,
            Some(text) => Some(self.generation(text)?),
        };
        if let Some(form) = &self.form
            && !["ep", "rc"].iter().any(|known| known.eq_ignore_ascii_case(form))
        {
            return Err(format!("unknown form '{form}'; valid: ep, rc").into());
        }
        let mut bits = 0;
        for (at, p) in PRODUCTS.iter().enumerate() {
            if product.is_none_or(|key| p.key.eq_ignore_ascii_case(key))
                && valid(p, self.cann.clone()).is_ok()
            {
                bits |= 1 << at;
            }
        }
        Ok(Targets { bits, generation, filtered: bits.count_ones() as usize != PRODUCTS.len() })
    }

    fn generation(&self, text: &str) -> Result<u8, Refused> {
        let mut known: Vec<u8> = PRODUCTS.iter().flat_map(|p| p.generations.iter().copied()).collect();
        known.sort_unstable_by(|a, b| b.cmp(a));
        known.dedup();
        text.parse().ok().filter(|g| known.contains(g)).ok_or_else(|| {
            let known: Vec<_> = known.iter().map(u8::to_string).collect();
            format!("unknown CANN generation '{text}'; valid: {}", known.join(", ")).into()
        })
    }
}
