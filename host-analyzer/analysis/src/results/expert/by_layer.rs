//! Uses of each expert of a model, over all phases and contexts. They decide which experts are
//! worth keeping in memory.

use std::collections::BTreeMap;

use super::Routing;

/// Uses by expert number, by layer number.
pub type ByLayer = BTreeMap<u32, Vec<u64>>;

/// Why uses cannot be attributed to one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotOneModel {
    /// No router selected an expert.
    NoRouters,
    /// Weights whose name has no layer number.
    Unnumbered(String),
    /// The routings of several models: process and context of the first of each, as in [`Routing`].
    Several(Vec<(u32, Option<String>)>),
}

/// Uses by layer and expert.
///
/// Routings belong to one model if they are from one process and layers with the same number have
/// the same weights. Selections that no figure includes (`left_out`, `all_used`) are not here
/// either.
///
/// # Errors
///
/// The routings are not those of one model.
pub fn by_layer<'a>(routings: impl IntoIterator<Item = &'a Routing>) -> Result<ByLayer, NotOneModel> {
    let mut models: Vec<Seen<'a>> = Vec::new();
    for routing in routings {
        let same = models.iter_mut().find(|m| m.first.pid == routing.pid && m.agrees(routing));
        match same {
            Some(model) => model.add(routing)?,
            None => {
                let mut model = Seen { first: routing, layers: BTreeMap::new() };
                model.add(routing)?;
                models.push(model);
            }
        }
    }
    match models.len() {
        0 => Err(NotOneModel::NoRouters),
        1 => Ok(models.remove(0).layers.into_iter().map(|(layer, (_, uses))| (layer, uses)).collect()),
        _ => {
            Err(NotOneModel::Several(models.iter().map(|m| (m.first.pid, m.first.context.clone())).collect()))
        }
    }
}

/// What distinguishes the layers of models: name of the weights, bytes of one expert.
type Weights<'a> = (&'a str, Option<u64>);

/// A model.
struct Seen<'a> {
    first: &'a Routing,
    layers: BTreeMap<u32, (Weights<'a>, Vec<u64>)>,
}

impl<'a> Seen<'a> {
    fn agrees(&self, routing: &Routing) -> bool {
        routing.layers.iter().all(|l| {
            let known = l.layer.and_then(|number| self.layers.get(&number));
            known.is_none_or(|((name, bytes), uses)| {
                *name == l.weights && *bytes == l.expert_bytes && uses.len() == l.expert_uses.len()
            })
        })
    }

    fn add(&mut self, routing: &'a Routing) -> Result<(), NotOneModel> {
        for l in &routing.layers {
            let number = l.layer.ok_or_else(|| NotOneModel::Unnumbered(l.weights.clone()))?;
            let (_, uses) = self
                .layers
                .entry(number)
                .or_insert_with(|| ((&l.weights, l.expert_bytes), vec![0; l.expert_uses.len()]));
            uses.iter_mut().zip(&l.expert_uses).for_each(|(sum, n)| *sum += n);
        }
        Ok(())
    }
}
