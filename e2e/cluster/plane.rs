//! The real control plane of e2e/controlplane, and `stowplan run` against it. What is started here
//! ends with the value that stands for it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::Value;

/// The folder of the package.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Whether this process has built the control plane. Cold, that takes minutes; otherwise seconds.
static BUILT: OnceLock<bool> = OnceLock::new();

/// Builds the control plane. `None`, with a message, where Go is missing; CI does not accept that.
pub fn built() -> Option<PathBuf> {
    if Command::new("go").arg("version").output().is_err() {
        let message = "SKIPPED: Go is needed to build the control plane of e2e/controlplane";
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{message}");
        eprintln!("{message}");
        return None;
    }
    let folder = root().join("e2e/controlplane");
    let built = BUILT.get_or_init(|| {
        // Not captured by the test harness: whoever waits should know for what.
        let _ = writeln!(std::io::stderr(), "building the control plane: minutes at first, then seconds");
        Command::new(folder.join("build.sh")).status().is_ok_and(|status| status.success())
    });
    assert!(built, "e2e/controlplane/build.sh failed");
    Some(folder.join("bin/controlplane"))
}

/// One control plane at a time: each keeps a core busy while it starts.
static ALONE: Mutex<()> = Mutex::new(());

/// A running control plane in a folder of its own.
pub struct Plane {
    binary: PathBuf,
    folder: PathBuf,
    process: Child,
    _alone: MutexGuard<'static, ()>,
}

impl Plane {
    /// Starts etcd, kube-apiserver and kube-controller-manager, with upstream's scheduler if wanted.
    pub fn start(binary: PathBuf, name: &str, with_scheduler: bool) -> Self {
        Self::start_with(binary, name, if with_scheduler { &["--with-scheduler"] } else { &[] })
    }

    /// The same with further flags of `controlplane up`.
    pub fn start_with(binary: PathBuf, name: &str, flags: &[&str]) -> Self {
        // A test that failed says nothing about the next one.
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = std::env::temp_dir().join(format!("stowplan-e2e-{}-{name}", std::process::id()));
        let mut command = Command::new(&binary);
        command.arg("up").arg("--dir").arg(&folder).arg("--stop-on-stdin-close").args(flags);
        let process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("controlplane up starts");
        let mut plane = Self { binary, folder, process, _alone: alone };
        let output = plane.process.stdout.take().expect("its output is piped");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).expect("its output is readable");
        assert!(line.starts_with('{'), "the control plane did not start; see {}", plane.folder.display());
        plane.run(&["apply", "-f"], &[&root().join("manifests/rbac.yaml")]);
        plane
    }

    /// A file in the plane's folder, for one test's input.
    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.join(name);
        std::fs::File::create(&path)
            .and_then(|mut file| file.write_all(content.as_bytes()))
            .expect("a writable folder");
        path
    }

    /// The credentials of one who may do everything.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.join("admin.kubeconfig")
    }

    fn run(&self, arguments: &[&str], files: &[&Path]) -> Output {
        let (verb, rest) = arguments.split_first().expect("a verb");
        let output = Command::new(&self.binary)
            .args([verb, "--kubeconfig"])
            .arg(self.kubeconfig())
            .args(rest)
            .args(files)
            .output()
            .expect("controlplane runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "controlplane {arguments:?} {files:?}: {said}");
        output
    }

    /// Creates the objects of a manifest for that scheduler, one pod after another.
    pub fn apply(&self, manifest: &Path, scheduler: &str) {
        self.run(&["apply", "--settle", "15s", "--scheduler-name", scheduler, "-f"], &[manifest]);
    }

    /// The same, all at once.
    pub fn create(&self, manifest: &Path, scheduler: &str) {
        self.run(&["apply", "--scheduler-name", scheduler, "-f"], &[manifest]);
    }

    /// The same, where each pod may go only to the node that `pins` gives it.
    pub fn apply_pinned(&self, manifest: &Path, scheduler: &str, pins: &Value) {
        let pins = self.file("pins.json", &pins.to_string());
        let pins = pins.to_str().expect("a path in UTF-8");
        self.run(
            &["apply", "--settle", "15s", "--scheduler-name", scheduler, "--pin", pins, "-f"],
            &[manifest],
        );
    }

    /// Which pod sits where with which devices, once every pod has a verdict.
    pub fn placements(&self) -> Value {
        let output = self.run(&["placements", "-o", "json", "--wait", "20s"], &[]);
        serde_json::from_slice(&output.stdout).expect("placements are JSON")
    }

    /// What stowplan has asked the API server for, in order, as the server noted it.
    pub fn requests(&self) -> Vec<Value> {
        let notes = std::fs::read_to_string(self.folder.join("audit.jsonl")).unwrap_or_default();
        // The last line may still be written.
        notes.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Deletes a pod.
    pub fn delete_pod(&self, pod: &str) {
        self.run(&["delete-pods", pod], &[]);
    }

    /// Deletes all that tests create.
    pub fn wipe(&self) {
        self.run(&["wipe"], &[]);
    }

    /// Starts `stowplan run` with just the rights of its manifest.
    pub fn stowplan(&self, scheduler: &str) -> Stowplan {
        let mut logs = (1..).map(|number| self.folder.join(format!("stowplan-{number}.log")));
        let log = logs.find(|log| !log.exists()).expect("there is always a next number");
        let file = std::fs::File::create(&log).expect("a writable folder");
        let process = Command::new(env!("CARGO_BIN_EXE_stowplan"))
            .args(["run", "--leader-elect=false", "--scheduler-name", scheduler, "--kubeconfig"])
            .arg(self.folder.join("stowplan.kubeconfig"))
            .stderr(file)
            .spawn()
            .expect("stowplan runs");
        Stowplan { process, log }
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        drop(self.process.stdin.take()); // asks it to stop
        let status = self.process.wait();
        if std::thread::panicking() {
            eprintln!("logs are in {}", self.folder.display());
        } else {
            assert!(status.is_ok_and(|status| status.success()), "the control plane did not stop cleanly");
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// A running `stowplan run`.
pub struct Stowplan {
    process: Child,
    log: PathBuf,
}

impl Stowplan {
    /// Asks it to stop, and waits.
    pub fn stop(mut self) {
        self.terminate();
        let status = self.process.wait().expect("it can be waited for");
        assert!(status.success(), "stowplan run ended with {status}: {}", self.log());
    }

    /// Ends it without a warning.
    pub fn kill(mut self) {
        self.process.kill().expect("it runs");
        let _ = self.process.wait();
    }

    /// What it said.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    fn terminate(&mut self) {
        let pid = self.process.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &pid]).status();
    }
}

impl Drop for Stowplan {
    fn drop(&mut self) {
        if matches!(self.process.try_wait(), Ok(None)) {
            self.terminate();
            let _ = self.process.wait();
        }
        if std::thread::panicking() {
            eprintln!("stowplan said:\n{}", self.log());
        }
    }
}
