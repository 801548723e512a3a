//! Connects to the cluster, and stops cleanly when asked to.

use std::future::Future;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tracing::{info, warn};

use super::api::Server;
use super::scheduler::Scheduler;
use super::watch;
use crate::config::RunSettings;

/// Changes that may wait for the loop before the watches are held up.
const BACKLOG: usize = 1024;

/// How long requests that are on their way may take when we are asked to stop.
const GRACE: Duration = Duration::from_secs(10);

/// Why the scheduler cannot run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Leader election was asked for.
    #[error("leader election is not served yet: run one instance with --leader-elect=false")]
    LeaderElection,
    /// The kubeconfig cannot be used.
    #[error("kubeconfig: {0}")]
    Kubeconfig(#[from] kube::config::KubeconfigError),
    /// No configuration was found.
    #[error("no cluster is configured: {0}")]
    Config(#[from] kube::config::InferConfigError),
    /// The API server cannot be reached.
    #[error("cannot reach the API server: {0}")]
    Server(#[from] kube::Error),
    /// The API server has no devices.
    #[error("the API server does not serve resource.k8s.io/v1; Kubernetes 1.34 and later do")]
    NoDevices,
    /// The process cannot be set up.
    #[error("cannot start: {0}")]
    Process(#[from] std::io::Error),
    /// The watches ended by themselves.
    #[error("the watches ended")]
    WatchesEnded,
}

/// Schedules the pods of a cluster until SIGTERM or SIGINT.
///
/// # Errors
/// The cluster cannot be reached or used; nothing was done.
pub fn run(settings: RunSettings) -> Result<(), RunError> {
    if settings.leader_elect {
        return Err(RunError::LeaderElection);
    }
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(serve(settings))
}

async fn serve(settings: RunSettings) -> Result<(), RunError> {
    let stop = stop_signal()?;
    let client = connect(&settings).await?;
    let kinds = watch::discover(&client).await?.ok_or(RunError::NoDevices)?;
    let names: Vec<_> = settings.scheduler_names.iter().map(ToString::to_string).collect();
    info!(schedulers = names.join(", "), "serving pods");
    // Nothing in the API keeps two schedulers from giving one device away twice.
    warn!(
        "devices that this scheduler gives away must not be given away by another one: \
         keep the pods that claim them at one scheduler"
    );

    let (sender, changes) = mpsc::channel(BACKLOG);
    let listed = kinds.iter().map(|watched| watched.kind).collect();
    let watches = watch::start(&client, kinds, &sender);
    drop(sender);
    let mut scheduler = Scheduler::new(settings, Server::new(client), listed);
    let result = scheduler.run(changes, stop).await;
    drop(watches);
    if tokio::time::timeout(GRACE, scheduler.finish_requests()).await.is_err() {
        warn!("stopping with requests on their way");
    }
    info!("stopped");
    result
}

/// Completes on SIGTERM or SIGINT.
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

async fn connect(settings: &RunSettings) -> Result<kube::Client, RunError> {
    let config = match &settings.kubeconfig {
        Some(path) => {
            let kubeconfig = Kubeconfig::read_from(path)?;
            kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?
        }
        None => kube::Config::infer().await?,
    };
    Ok(kube::Client::try_from(config)?)
}
