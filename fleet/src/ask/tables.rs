//! The tables of a fleet, and SQL queries with DataFusion.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::{DataFusionError, Result as Answered};
use datafusion::execution::context::SQLOptions;
use datafusion::prelude::{SessionConfig, SessionContext};
use profinfer_cli::{Diagnostic, Result};

use super::answer::Answer;
use super::guard::guarded;
use super::queries;
use crate::place::Place;
use crate::rows::{Table, partition};

/// The tables, ready for queries.
pub(super) struct Tables(SessionContext);

impl Tables {
    /// The tables of a place. Reads nothing yet.
    pub(super) async fn new(place: &Place) -> Result<Self> {
        // The files are small and many: collecting statistics would cost as much as reading their
        // rows.
        let config = SessionConfig::new().with_collect_statistics(false);
        let context = SessionContext::new_with_config(config);
        place.register(&context)?;
        register(&context, place).await.map_err(|e| failed("opening the fleet", &e))?;
        Ok(Self(context))
    }

    /// The answer to one SELECT. Rejects statements that write.
    pub(super) async fn ask(&self, query: &str) -> Result<Answer> {
        let reads =
            SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
        let (context, query) = (self.0.clone(), query.to_owned());
        let asked = guarded(async move {
            let frame = context.sql_with_options(&query, reads).await?;
            let schema = Arc::clone(frame.schema().inner());
            Answer::new(&schema, &frame.collect().await?)
        });
        asked.await.map_err(|e| failed("querying the fleet", &e))
    }
}

async fn register(context: &SessionContext, place: &Place) -> Answered<()> {
    for table in Table::ALL {
        let folders = partition::COLUMNS.map(|c| (c.to_owned(), DataType::Utf8));
        let options = ListingOptions::new(Arc::new(ParquetFormat::default()))
            .with_file_extension(".parquet")
            .with_table_partition_cols(folders.to_vec())
            .with_target_partitions(context.copied_config().target_partitions())
            .with_collect_stat(false);
        let config = ListingTableConfig::new(ListingTableUrl::parse(place.url(table))?)
            .with_listing_options(options)
            .with_schema(Arc::new(table.schema()));
        context.register_table(queries::files_of(table), Arc::new(ListingTable::try_new(config)?))?;
    }
    for table in [Table::Operators, Table::Findings] {
        let view = format!("CREATE VIEW {} AS {}", table.name(), queries::visible(table));
        context.sql(&view).await?;
    }
    Ok(())
}

fn failed(tried: &str, e: &DataFusionError) -> Diagnostic {
    let help = match e.find_root() {
        DataFusionError::ParquetError(_) | DataFusionError::ArrowError(..) => {
            "a file in the fleet's folder is damaged or foreign: remove it, and add the recording again"
        }
        DataFusionError::ObjectStore(_) | DataFusionError::IoError(_) => {
            "check the place and the permission to read it"
        }
        _ => "see docs/output-schema.md for tables and columns, and `analyze fleet queries` for examples",
    };
    Diagnostic::new(tried, e.strip_backtrace(), help)
}
