//! The reader of Parquet may give up on foreign bytes by a panic: `parquet` 58 does so on a file whose footer says that it is longer than the file.
//! A question then ends with an error, as with other damage.

use std::panic;
use std::sync::Mutex;
use std::thread;

use datafusion::error::{DataFusionError, Result};
use datafusion::parquet::errors::ParquetError;

/// What the last panic of a thread that works for the query engine said.
static SAID: Mutex<String> = Mutex::new(String::new());

/// From now on panics of other threads than the main one are kept instead of printed.
pub(crate) fn keep_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().name() == Some("main") {
            return print(info);
        }
        if let Ok(mut said) = SAID.lock() {
            *said = info.payload_as_str().unwrap_or("no word").to_owned();
        }
    }));
}

/// The outcome of a question, which runs on other threads.
///
/// # Errors
/// Its own, and a panic as that of damaged Parquet.
pub(super) async fn guarded<T: Send + 'static>(
    question: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    match tokio::spawn(question).await {
        Ok(outcome) => outcome,
        Err(_) => {
            let said = SAID.lock().map(|said| said.clone()).unwrap_or_default();
            let damage = ParquetError::General(format!("the reader gave up on a file: {said}"));
            Err(DataFusionError::ParquetError(Box::new(damage)))
        }
    }
}
