//! An independent writer of GGUF headers: the layout follows the format's description, byte by
//! byte.

/// A file under construction.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) version: u32,
    /// Key, type and bytes of each setting.
    pub(crate) settings: Vec<(String, u32, Vec<u8>)>,
    /// Name, dimensions, number of the type, offset.
    pub(crate) tensors: Vec<(String, Vec<u64>, u32, u64)>,
    /// Bytes of weights after the header.
    pub(crate) weights: usize,
    pub(crate) offset: u64,
}

pub(crate) fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

impl File {
    pub(crate) fn new(architecture: &str) -> Self {
        let settings = vec![("general.architecture".to_owned(), 8, text(architecture))];
        Self { version: 3, settings, tensors: Vec::new(), weights: 0, offset: 0 }
    }

    pub(crate) fn number(mut self, key: &str, value: u32) -> Self {
        self.settings.push((key.to_owned(), 4, value.to_le_bytes().to_vec()));
        self
    }

    pub(crate) fn setting(mut self, key: &str, dtype: u32, bytes: Vec<u8>) -> Self {
        self.settings.push((key.to_owned(), dtype, bytes));
        self
    }

    /// A tensor with `bytes` bytes, after those before it.
    pub(crate) fn tensor(mut self, name: &str, ne: &[u64], dtype: u32, bytes: u64) -> Self {
        self.tensors.push((name.to_owned(), ne.to_vec(), dtype, self.offset));
        self.offset += bytes.next_multiple_of(32);
        self.weights = usize::try_from(self.offset).unwrap();
        self
    }

    pub(crate) fn header(&self) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(self.version.to_le_bytes());
        bytes.extend((self.tensors.len() as u64).to_le_bytes());
        bytes.extend((self.settings.len() as u64).to_le_bytes());
        for (key, dtype, value) in &self.settings {
            bytes.extend(text(key));
            bytes.extend(dtype.to_le_bytes());
            bytes.extend(value);
        }
        for (name, ne, dtype, offset) in &self.tensors {
            bytes.extend(text(name));
            bytes.extend((ne.len() as u32).to_le_bytes());
            ne.iter().for_each(|n| bytes.extend(n.to_le_bytes()));
            bytes.extend(dtype.to_le_bytes());
            bytes.extend(offset.to_le_bytes());
        }
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        bytes
    }

    pub(crate) fn read(&self) -> Result<profinfer_trace::model::Blueprint, profinfer_trace::gguf::Error> {
        let header = self.header();
        let length = header.len() + self.weights;
        profinfer_trace::gguf::read(&mut &header[..], length as u64)
    }
}
