//! All known profiles: the shipped ones, and the user's, which replace shipped ones of the same
//! name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::board::Board;
use crate::error::{BoardError, nearest};
use crate::parse::{BoardFile, File, stem};
use crate::{Backend, Core, link, names, shipped};

/// All known profiles.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    files: Files,
    boards: BTreeMap<String, Board>,
}

/// The files, by name.
#[derive(Debug, Clone, Default)]
struct Files {
    /// Layer of the files that are being added.
    layer: u32,
    cores: BTreeMap<String, File<Core>>,
    backends: BTreeMap<String, File<Backend>>,
    boards: BTreeMap<String, File<BoardFile>>,
}

/// A profile that a user's profile replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// `board`, `core` or `backend`.
    pub what: &'static str,
    /// Its name.
    pub name: String,
    /// The user's file.
    pub path: String,
}

impl fmt::Display for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} `{}` comes from {} and replaces the profile of that name",
            self.what, self.name, self.path
        )
    }
}

impl Catalog {
    /// The profiles that come with the release.
    ///
    /// # Errors
    /// Never in a release: a test reads all profiles.
    pub fn shipped() -> Result<Self, BoardError> {
        let mut catalog = Self::default();
        for (path, text) in shipped::FILES {
            catalog.files.add(path, text)?;
        }
        catalog.boards = catalog.files.link()?;
        Ok(catalog)
    }

    /// Adds the user's profiles, each a path and a text. The path is for errors. Its folder
    /// determines the kind of file: a core (`cores/`), a backend (`backends/`) or a board. A
    /// profile with the name of an earlier one replaces it. Returns the profiles that did so. After
    /// an error the catalog is unchanged.
    ///
    /// # Errors
    /// With file and line, when a file has a mistake.
    pub fn with_folder(
        &mut self,
        files: impl Iterator<Item = (String, String)>,
    ) -> Result<Vec<Replaced>, BoardError> {
        let mut all = self.files.clone();
        all.layer += 1;
        let mut replaced = Vec::new();
        for (path, text) in files {
            replaced.extend(all.add(&path, &text)?);
        }
        self.boards = all.link()?;
        self.files = all;
        Ok(replaced)
    }

    /// Every board, by name.
    pub fn boards(&self) -> impl Iterator<Item = &Board> {
        self.boards.values()
    }

    /// Every backend, by name.
    pub fn backends(&self) -> impl Iterator<Item = &Backend> {
        self.files.backends.values().map(|file| &file.value)
    }

    /// The board that people call so: by its name, an alias or a model, without regard to case,
    /// spaces and punctuation. A user's profile precedes a shipped one.
    ///
    /// # Errors
    /// With the known names, nearest first.
    pub fn find(&self, name: &str) -> Result<&Board, BoardError> {
        let layer = |board: &&Board| self.files.boards.get(&board.name).map_or(0, |f| f.layer);
        let called = || self.boards.values().filter(|b| names::is_called(b, name)).max_by_key(layer);
        self.boards.get(name).or_else(called).ok_or_else(|| BoardError::Unknown {
            name: name.to_owned(),
            meant: names::similar(self.boards.values(), name),
            candidates: nearest(name, self.boards.keys().map(String::as_str)),
        })
    }
}

impl Files {
    fn add(&mut self, path: &str, text: &str) -> Result<Option<Replaced>, BoardError> {
        let folder = path.rsplit(['/', '\\']).nth(1);
        let what = match folder {
            Some("cores") => "core",
            Some("backends") => "backend",
            _ => "board",
        };
        let name = stem(path).to_owned();
        let old = match what {
            "core" => insert(&mut self.cores, &name, File::parse(path, text, self.layer)?)?,
            "backend" => insert(&mut self.backends, &name, File::parse(path, text, self.layer)?)?,
            _ => insert(&mut self.boards, &name, File::parse(path, text, self.layer)?)?,
        };
        Ok(old.then(|| Replaced { what, name, path: path.to_owned() }))
    }

    fn link(&self) -> Result<BTreeMap<String, Board>, BoardError> {
        let mut midrs: BTreeMap<u32, &str> = BTreeMap::new();
        for file in self.cores.values() {
            link::check_core(file)?;
            let core = &file.value;
            if let Some(other) = core.midr.and_then(|midr| midrs.insert(midr, &core.name)) {
                let what = format!(
                    "the cores `{other}` and `{}` have the same midr: each core type has its own",
                    core.name
                );
                return Err(file.wrong(0..0, what));
            }
        }
        self.backends.values().try_for_each(link::check_backend)?;
        let cores = shared(&self.cores);
        let backends = shared(&self.backends);
        names::check(&self.boards)?;
        self.boards.iter().map(|(n, f)| Ok((n.clone(), link::board(f, &cores, &backends)?))).collect()
    }
}

/// Whether it replaced another.
fn insert<T>(all: &mut BTreeMap<String, File<T>>, name: &str, file: File<T>) -> Result<bool, BoardError> {
    let old = all.get(name);
    if old.is_some_and(|old| old.layer == file.layer) {
        return Err(file.wrong(0..0, format!("another file has the name `{name}` too: rename one of them")));
    }
    Ok(all.insert(name.to_owned(), file).is_some())
}

fn shared<T: Clone>(files: &BTreeMap<String, File<T>>) -> BTreeMap<String, Arc<T>> {
    files.iter().map(|(name, file)| (name.clone(), Arc::new(file.value.clone()))).collect()
}
