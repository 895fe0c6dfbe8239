//! The Parquet reader can panic on damaged files: `parquet` 58 does so if the footer claims more
//! bytes than the file has. The query then ends with an error, as with other damage.

use std::panic;
use std::sync::Mutex;
use std::thread;

use datafusion::error::{DataFusionError, Result};
use datafusion::parquet::errors::ParquetError;

/// Message of the last panic of a worker thread of the query engine.
static SAID: Mutex<String> = Mutex::new(String::new());

/// From now on, keeps panics of other threads than the main one instead of printing them.
pub(crate) fn keep_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().name() == Some("main") {
            return print(info);
        }
        if let Ok(mut said) = SAID.lock() {
            *said = info.payload_as_str().unwrap_or("no message").to_owned();
        }
    }));
}

/// The result of a query, which runs on other threads.
///
/// # Errors
///
/// Those of the query. A panic becomes an error about damaged Parquet.
pub(super) async fn guarded<T: Send + 'static>(
    question: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    match tokio::spawn(question).await {
        Ok(outcome) => outcome,
        Err(_) => {
            let said = SAID.lock().map(|said| said.clone()).unwrap_or_default();
            let damage = ParquetError::General(format!("the reader failed on a file: {said}"));
            Err(DataFusionError::ParquetError(Box::new(damage)))
        }
    }
}
