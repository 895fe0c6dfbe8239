//! A bucket with the S3 protocol, at Amazon or at the server that `AWS_ENDPOINT_URL` names.

use std::env;
use std::sync::Arc;

use datafusion::datasource::listing::ListingTableUrl;
use datafusion::prelude::SessionContext;
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{Error, ObjectStore, PutMode, PutOptions};
use profinfer_cli::{Diagnostic, Result};

use super::Written;

#[derive(Debug)]
pub(crate) struct Remote {
    bucket: String,
    prefix: String,
    store: Arc<dyn ObjectStore>,
}

/// The part after `s3://`.
pub(super) fn of(rest: &str) -> Result<Remote> {
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let endpoint = env::var("AWS_ENDPOINT_URL").unwrap_or_default();
    // Allow HTTP on this machine, because nothing is between the two processes. For other machines,
    // AWS_ALLOW_HTTP is required.
    let own = ["http://127.0.0.1", "http://localhost", "http://[::1]"].iter().any(|own| {
        endpoint.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
    });
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
    if own {
        builder = builder.with_allow_http(true);
    }
    let store = builder.build().map_err(|e| failed(format!("opening s3://{rest}"), e))?;
    Ok(Remote {
        bucket: bucket.to_owned(),
        prefix: prefix.trim_matches('/').to_owned(),
        store: Arc::new(store),
    })
}

impl Remote {
    /// A put is atomic. This one fails if the name is taken.
    pub(super) async fn create(&self, path: &str, bytes: Vec<u8>) -> Result<Written> {
        let options = PutOptions::from(PutMode::Create);
        match self.store.put_opts(&self.path(path), bytes.into(), options).await {
            Ok(_) => Ok(Written::New),
            Err(Error::AlreadyExists { .. }) => Ok(Written::ThereAlready),
            Err(e) => Err(failed(format!("writing {}/{path}", self.url()), e)),
        }
    }

    pub(super) async fn names(&self, path: &str) -> Result<Vec<String>> {
        use futures_util::TryStreamExt;
        let found: std::result::Result<Vec<_>, _> =
            self.store.list(Some(&self.path(path))).try_collect().await;
        let found = found.map_err(|e| failed(format!("reading {}/{path}", self.url()), e))?;
        Ok(found.iter().filter_map(|o| o.location.filename()).map(str::to_owned).collect())
    }

    pub(super) fn url(&self) -> String {
        let prefix = if self.prefix.is_empty() { String::new() } else { format!("/{}", self.prefix) };
        format!("s3://{}{prefix}", self.bucket)
    }

    pub(super) fn register(&self, context: &SessionContext) -> Result<()> {
        let url = ListingTableUrl::parse(self.url())
            .map_err(|e| Diagnostic::new(format!("opening {}", self.url()), e, "name s3://BUCKET/PREFIX"))?;
        context.register_object_store(url.object_store().as_ref(), Arc::clone(&self.store));
        Ok(())
    }

    fn path(&self, below: &str) -> Path {
        Path::from(format!("{}/{below}", self.prefix))
    }
}

fn failed(tried: String, e: Error) -> Diagnostic {
    let help = "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL (for http:// on other machines also AWS_ALLOW_HTTP=true)";
    Diagnostic::new(tried, e, help)
}
