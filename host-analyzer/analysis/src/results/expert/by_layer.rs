//! How often each expert of a model was used, over all phases and contexts: what decides which experts are worth keeping in memory.

use std::collections::BTreeMap;

use super::Routing;

/// Uses by expert's number, by number of the layer.
pub type ByLayer = BTreeMap<u32, Vec<u64>>;

/// Why they cannot be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotOneModel {
    /// No router chose anything.
    NoRouters,
    /// Weights whose layer the names do not tell.
    Unnumbered(String),
    /// The routings of several models: process and context of the first of each, as in [`Routing`].
    Several(Vec<(u32, Option<String>)>),
}

/// Uses by layer and expert.
///
/// Routings are of one model if they are of one process and no layer of one has other weights than the layer of that number of another.
/// Selections that are in no figure (`left_out`, `all_used`) are not here either.
///
/// # Errors
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

/// What tells the layers of models apart: name of the weights, bytes of one expert.
type Weights<'a> = (&'a str, Option<u64>);

/// A model that was seen.
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
